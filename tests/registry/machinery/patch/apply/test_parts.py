"""The smaller modules: scales, resets, times, admission, changed types."""

from typing import Any

import pytest

from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.groups.apps.deployments import DEPLOYMENTS
from aio_apiserver.registry.groups.certificates.certificatesigningrequests import CERTIFICATESIGNINGREQUESTS
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.storage.volumeattachments import VOLUMEATTACHMENTS
from aio_apiserver.registry.machinery.patch.apply import after_admission, fields, reconcile, scale, times
from aio_apiserver.registry.machinery.patch.apply.elements import field
from aio_apiserver.registry.machinery.patch.apply.resets import resets
from tests.registry.machinery.patch.apply.things import form_of

REPLICAS = (field("spec"), field("replicas"))
PATHS = {"apps/v1": REPLICAS}
OWNED: Any = {"f:spec": {"f:paused": {}, "f:replicas": {}}}


def entry(manager: str, operation: str, owned: Any = OWNED, **more: Any) -> Any:
    return {"manager": manager, "operation": operation, "apiVersion": "apps/v1", "time": "t", "fieldsType": "FieldsV1",
            "fieldsV1": owned, **more}  # fmt: skip


def managers(entries: Any) -> list[tuple[str, Any]]:
    return [(one["manager"], one["fieldsV1"]["f:spec"]) for one in entries]


def test_the_owners_of_replicas_own_those_of_the_scale() -> None:
    parent = [entry("a", "Apply"), entry("b", "Update", {"f:spec": {"f:paused": {}}}), entry("c", "Update")]

    found = scale.entries_of_scale(parent, PATHS)

    assert managers(found) == [("a", {"f:replicas": {}}), ("c", {"f:replicas": {}})]
    assert {one["apiVersion"] for one in found} == {"autoscaling/v1"}


def test_who_scales_takes_the_replicas_from_all_others() -> None:
    parent = [entry("a", "Apply"), entry("c", "Update", {"f:spec": {"f:replicas": {}}})]
    scaled = {**entry("hpa", "Update", {"f:spec": {"f:replicas": {}}}, subresource="scale"),
              "apiVersion": "autoscaling/v1"}  # fmt: skip

    found = scale.entries_of_parent([scaled], parent, PATHS, "apps/v1")

    assert managers(found) == [("a", {"f:paused": {}}), ("hpa", {"f:replicas": {}})]
    assert found[1].get("time") is None
    assert found[1]["subresource"] == "scale"


def test_a_write_of_a_scale_that_changes_nothing_sets_its_updaters_apart() -> None:
    parent = [entry("a", "Apply"), entry("c", "Update")]

    found = scale.entries_of_parent(scale.entries_of_scale(parent, PATHS), parent, PATHS, "apps/v1")

    assert managers(found) == [("a", OWNED["f:spec"]), ("c", {"f:replicas": {}}), ("c", {"f:paused": {}})]


def test_owners_in_versions_without_a_scale_keep_what_they_have() -> None:
    parent = [{**entry("old", "Update"), "apiVersion": "apps/v0"}, {**entry("b", "Update"), "apiVersion": "apps/beta"}]

    found = scale.entries_of_parent([], parent, {**PATHS, "apps/beta": None}, "apps/v1")

    assert managers(found) == [("b", OWNED["f:spec"])]


@pytest.mark.parametrize(
    ("kind", "subresource", "kept"),
    [
        (DEPLOYMENTS, "", ["f:metadata", "f:spec"]),
        (DEPLOYMENTS, "status", ["f:metadata", "f:status"]),
        (DEPLOYMENTS, "scale", ["f:metadata", "f:spec", "f:status"]),
        (PODS, "resize", ["f:metadata", "f:spec", "f:status"]),
        (VOLUMEATTACHMENTS, "status", ["f:status"]),
        (CERTIFICATESIGNINGREQUESTS, "", ["f:metadata"]),
    ],
)
def test_what_cannot_be_set_is_left_out(kind: Kind, subresource: str, kept: list[str]) -> None:
    found = {"f:metadata": {"f:annotations": {"f:a": {}}}, "f:spec": {"f:a": {}}, "f:status": {"f:a": {}}}

    assert list(resets(subresource, has_status=True, own=kind.resets).kept(found)) == kept


def test_entries_may_differ_in_nothing_but_time() -> None:
    one, later, other = entry("a", "Apply"), {**entry("a", "Apply"), "time": "u"}, entry("b", "Apply")

    assert times.differ_only_in_time([later], [one])
    assert not times.differ_only_in_time([one], [one])
    assert not times.differ_only_in_time([other], [one])
    assert not times.differ_only_in_time([later, other], [one])


def test_admission_may_change_managed_fields_but_not_break_them() -> None:
    warnings: list[str] = []
    before = [entry("a", "Apply")]
    moved = {"managedFields": [entry("b", "Update", {'k:{ "a":1 }': {}})]}
    broken = {"managedFields": [entry("b", "Update", {"abc": {}})]}

    for metadata in (moved, broken):
        after_admission.settle_managed_fields(metadata, before, warnings.append)

    assert moved["managedFields"][0]["fieldsV1"] == {'k:{"a":1}': {}}
    assert broken["managedFields"] is before
    assert [text.rpartition("requests: ")[2] for text in warnings] == ["missing colon: abc"]


def test_parts_of_what_has_become_one_thing_are_owned_as_it() -> None:
    members = {"a": {"type": "string"}}
    spec = {"type": "object", "properties": {
        "now": {"type": "object", "x-kubernetes-map-type": "atomic", "properties": members},
        "list": {"type": "array", "items": {"type": "string"}},
        "still": {"type": "object", "properties": members},
    }}  # fmt: skip
    owned: Any = {"f:spec": {"f:list": {'v:"x"': {}}, "f:now": {".": {}, "f:a": {}}, "f:still": {"f:a": {}}}}

    found = reconcile.reconciled(form_of(spec).shape, owned)

    assert found == {"f:spec": {"f:list": {}, "f:now": {}, "f:still": {"f:a": {}}}}
    assert reconcile.reconciled(form_of(spec).shape, found) is found
    assert fields.decoded(found) == found
