"""Tests immutable fields of capacities, nodes and attachments, and their errors."""

from typing import Any

import pytest

from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.groups.storage.csinodes import CSINODES
from aio_apiserver.registry.groups.storage.csistoragecapacities import CSISTORAGECAPACITIES
from aio_apiserver.registry.groups.storage.volumeattachments import VOLUMEATTACHMENTS

METADATA = {"name": "a", "namespace": "n", "resourceVersion": "1"}
TOPOLOGY = {"matchExpressions": [{"key": "k", "operator": "Exists"}]}
INLINE = {"accessModes": ["ReadWriteOnce"], "csi": {"driver": "d", "volumeHandle": "h"}}


def capacity(topology: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": METADATA, "storageClassName": "s", "nodeTopology": topology}


def node(driver: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "a"}, "spec": {"drivers": [{"name": "d", **driver}]}}


def attachment(inline: dict[str, Any]) -> dict[str, Any]:
    source = {"inlineVolumeSpec": {**INLINE, **inline}}
    return {"metadata": {"name": "a"}, "spec": {"attacher": "d", "nodeName": "n", "source": source}}


@pytest.mark.parametrize(
    ("kind", "new", "old", "shown"),
    [
        (CSISTORAGECAPACITIES, capacity({**TOPOLOGY, "matchLabels": {}}), capacity(TOPOLOGY), ""),
        (
            CSISTORAGECAPACITIES,
            capacity({"matchLabels": {"b": "1", "a": "2"}, "matchExpressions": []}),
            capacity(TOPOLOGY),
            'nodeTopology: Invalid value: {"matchLabels":{"a":"2","b":"1"}}: field is immutable',
        ),
        (
            CSINODES,
            node({"nodeID": "n", "topologyKeys": []}),
            node({"nodeID": "m"}),
            'spec.drivers: Invalid value: {"Name":"d","NodeID":"n","TopologyKeys":[],"Allocatable":null}: '
            "field is immutable",
        ),
        (VOLUMEATTACHMENTS, attachment({"capacity": {}}), attachment({}), ""),
        (
            VOLUMEATTACHMENTS,
            attachment({"claimRef": {}}),
            attachment({"claimRef": {}}),
            "spec.source.inlineVolumeSpec.claimRef: Forbidden: may not be specified in the context of inline volumes",
        ),
    ],
)
def test_immutable_class_and_topology_are_shown_as_sent(
    kind: Kind, new: dict[str, Any], old: dict[str, Any], shown: str
) -> None:
    found = kind.strategy.validate_update(StrategyContext(namespace="n"), new, old)

    assert [str(error) for error in found] == ([shown] if shown else [])
