"""The fields of other minors, which are dropped from stored objects."""

from typing import Any

import pytest

from aio_apiserver.registry.base import minors
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.schema import unknown_fields
from aio_apiserver.registry.machinery.schema.catalog import Catalog

POD = {"apiVersion": "v1", "kind": "Pod"}


def dropped(types: Catalog, pod: dict[str, Any]) -> bool:
    """Drop the fields of other minors from a pod; returns whether there were any."""
    drop = unknown_fields.dropper(types, POD)
    assert drop is not None
    return drop(pod)


def test_the_fields_of_a_newer_minor_are_dropped_wherever_they_are() -> None:
    container: dict[str, Any] = {"name": "c", "ports": [{"protocol": "TCP"}]}
    probe = {"httpGet": {"path": "/", "protocol": "H2C"}}
    obj: dict[str, Any] = {
        "spec": {"containers": [container, container | {"livenessProbe": probe}], "evictionResponders": []},
        "status": {"volumeHealth": [{}]},
    }

    is_changed = dropped(schema.builtin("1.36"), obj)

    containers = [container, container | {"livenessProbe": {"httpGet": {"path": "/"}}}]
    assert is_changed
    assert obj == {"spec": {"containers": containers}, "status": {}}


def test_the_fields_of_an_older_minor_are_dropped_too() -> None:
    obj = {"spec": {"workloadRef": {"name": "w"}}}

    assert dropped(schema.builtin("1.36"), obj)
    assert obj == {"spec": {}}


def test_an_object_without_such_fields_is_left_as_it_is() -> None:
    obj = {"spec": {"containers": [{"name": "c"}], "workloadRef": {"name": "w"}}}

    assert not dropped(schema.builtin("1.35"), obj)
    assert obj["spec"]["workloadRef"] == {"name": "w"}


def test_a_kind_that_the_minor_does_not_have_is_left_as_it_is() -> None:
    slices = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice"}

    assert unknown_fields.dropper(schema.builtin("1.33"), slices) is None


@pytest.mark.parametrize("minor", minors.KNOWN)
def test_the_unknown_fields_are_those_of_the_definitions_of_other_minors(minor: str) -> None:
    catalogs = [schema.builtin(one).definitions for one in minors.KNOWN]
    for name, own in schema.builtin(minor).definitions.items():
        properties = own.get("properties", {})
        known = {field for one in catalogs if name in one for field in one[name].get("properties", {})}

        found = unknown_fields.unknown_names(name, tuple(properties)) if properties else ()

        assert set(found) == known - set(properties), name
