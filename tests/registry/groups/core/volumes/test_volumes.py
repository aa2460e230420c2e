"""Tests the validation of volumes and claims, and their allowed changes."""

from typing import Any

import pytest

from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.groups.core.volumes.persistentvolumes import PERSISTENTVOLUMES
from tests.registry.defaulted import CONTEXT, created, updated

VOLUME = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/data"}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def errors_of(kind: Kind, spec: dict[str, Any]) -> list[str]:
    return [str(error) for error in kind.strategy.validate(CONTEXT, created(kind, {"spec": spec}))]


def changes(kind: Kind, old: dict[str, Any], spec: dict[str, Any]) -> list[str]:
    new = updated(kind, old, {"spec": spec})
    return [str(error) for error in kind.strategy.validate_update(CONTEXT, new, old)]


@pytest.mark.parametrize(
    ("more", "errors"),
    [
        ({}, []),
        ({"nfs": {"server": "s", "path": "/p"}}, ["spec.nfs: Forbidden: may not specify more than 1 volume type"]),
        ({"hostPath": None}, ["spec: Required value: must specify a volume type"]),
        (
            {"hostPath": None, "local": {"path": "/p"}},
            ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
        ),
        (
            {"capacity": {"storage": "9223372036854775808"}},
            ["spec.capacity[storage]: Invalid value: -9223372036854775808: must be a valid resource quantity"],
        ),
        (
            {"capacity": {"pods": "1", "cpu": "2"}},
            ['spec.capacity: Unsupported value: {"cpu":"2","pods":"1"}: supported values: "storage"'],
        ),
        (
            {"capacity": {"storage": "0"}},
            ['spec.capacity[storage]: Invalid value: "0": must be greater than zero'],
        ),
        (
            {"accessModes": ["ReadWriteOncePod", "ReadWriteMany"]},
            ["spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"],
        ),
        (
            {"volumeAttributesClassName": "fast"},
            ["spec.csi: Required value: has to be specified when using volumeAttributesClassName"],
        ),
    ],
)
def test_invalid_volumes_are_refused(more: dict[str, Any], errors: list[str]) -> None:
    assert errors_of(PERSISTENTVOLUMES, {**VOLUME, **more}) == errors


def test_a_moved_volume_shows_the_difference() -> None:
    old = created(PERSISTENTVOLUMES, {"spec": VOLUME})

    (error,) = changes(PERSISTENTVOLUMES, old, {**VOLUME, "hostPath": {"path": "/other"}})

    assert error.startswith("spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable")
    assert '-  "Path": "/data",\n+  "Path": "/other",\n' in error


def affinity(key: str) -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": ["a"]}]}]
    return {"required": {"nodeSelectorTerms": terms}}


@pytest.mark.parametrize(
    ("before", "after", "is_allowed"),
    [
        ("beta.kubernetes.io/os", "kubernetes.io/os", True),
        ("kubernetes.io/os", "beta.kubernetes.io/os", False),
        ("beta.kubernetes.io/os", "", False),
        ("kubernetes.io/os", "", True),
    ],
)
def test_the_labels_of_a_volumes_nodes_get_newer_names_only(before: str, after: str, is_allowed: bool) -> None:
    old = created(PERSISTENTVOLUMES, {"spec": {**VOLUME, "nodeAffinity": affinity(before)}})

    found = changes(PERSISTENTVOLUMES, old, {**VOLUME, "nodeAffinity": affinity(after)})

    assert any(error.startswith("nodeAffinity: ") for error in found) != is_allowed


def test_a_bound_claim_may_grow() -> None:
    old = {**created(PERSISTENTVOLUMECLAIMS, {"spec": CLAIM}), "status": {"phase": "Bound"}}
    larger = {**CLAIM, "resources": {"requests": {"storage": "2Gi"}}}

    assert changes(PERSISTENTVOLUMECLAIMS, old, larger) == []


def test_a_claim_that_is_not_bound_keeps_its_size() -> None:
    old = created(PERSISTENTVOLUMECLAIMS, {"spec": CLAIM})

    (error,) = changes(PERSISTENTVOLUMECLAIMS, old, {**CLAIM, "resources": {"requests": {"storage": "2Gi"}}})

    assert '-   "storage": "1Gi"\n+   "storage": "2Gi"\n' in error


def test_an_equal_quantity_in_another_form_is_no_change() -> None:
    old = created(PERSISTENTVOLUMECLAIMS, {"spec": CLAIM})

    assert changes(PERSISTENTVOLUMECLAIMS, old, {**CLAIM, "resources": {"requests": {"storage": "1024Mi"}}}) == []


def test_a_claim_cannot_shrink_below_its_capacity() -> None:
    status = {"phase": "Bound", "capacity": {"storage": "1Gi"}}
    old = {**created(PERSISTENTVOLUMECLAIMS, {"spec": CLAIM}), "status": status}

    errors = changes(PERSISTENTVOLUMECLAIMS, old, {**CLAIM, "resources": {"requests": {"storage": "512Mi"}}})

    assert errors == ["spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"kind": "PersistentVolumeClaim", "name": "a"}, True),
        ({"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": "a"}, True),
        ({"apiGroup": "example.com", "kind": "Thing", "name": "a"}, False),
    ],
)
def test_unsupported_data_sources_are_dropped(given: dict[str, str], kept: bool) -> None:
    spec = created(PERSISTENTVOLUMECLAIMS, {"spec": {**CLAIM, "dataSource": given}})["spec"]

    assert ("dataSource" in spec, "dataSourceRef" in spec) == (kept, kept)


def test_a_changed_phase_sets_its_transition_time() -> None:
    strategy = PERSISTENTVOLUMES.status_strategy
    assert strategy is not None
    old = created(PERSISTENTVOLUMES, {"spec": VOLUME})
    new = {**old, "status": {"phase": "Bound"}}

    strategy.prepare_for_update(StrategyContext(namespace="", now=1_900_000_000.0), new, old)

    assert new["status"]["lastPhaseTransitionTime"] == "2030-03-17T17:46:40Z"
