"""What admission does to volumes, claims and new nodes."""

from typing import Any

import pytest

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.plugins.admission.nodes.taint_nodes_by_condition import TaintNodesByCondition
from aio_apiserver.registry.plugins.admission.storage.default_storage_class import DefaultStorageClass
from aio_apiserver.registry.plugins.admission.storage.persistent_volume_claim_resize import PersistentVolumeClaimResize
from aio_apiserver.registry.plugins.admission.storage.storage_object_in_use_protection import (
    StorageObjectInUseProtection,
)
from aio_apiserver.storage.interface import Storage
from tests.registry.plugins.admission.writes import write

CLAIMS = GroupResource("", "persistentvolumeclaims")
DEFAULT = "storageclass.kubernetes.io/is-default-class"


async def keep_class(kept: Storage, name: str, *, created: str = "2030-01-01T00:00:00Z", **more: Any) -> None:
    metadata = {"name": name, "creationTimestamp": created, "annotations": more.pop("annotations", {})}
    await kept.create(name, {"metadata": metadata, "provisioner": "p", **more})


def claim(size: str = "1Gi", **more: Any) -> dict[str, Any]:
    spec = {"resources": {"requests": {"storage": size}}, **more}
    return {"metadata": {"name": "c"}, "spec": spec, "status": {"phase": "Bound"}}


def of_claim(obj: dict[str, Any], **more: Any) -> Attributes:
    return write(obj, resource=CLAIMS, **more)


@pytest.mark.parametrize(
    ("group", "plural", "finalizer"),
    [
        ("", "persistentvolumeclaims", "kubernetes.io/pvc-protection"),
        ("", "persistentvolumes", "kubernetes.io/pv-protection"),
        ("storage.k8s.io", "volumeattributesclasses", "kubernetes.io/vac-protection"),
    ],
)
async def test_what_holds_data_is_protected_once(group: str, plural: str, finalizer: str) -> None:
    obj: dict[str, Any] = {"metadata": {"name": "a", "finalizers": ["example.com/x"]}}
    attributes = write(obj, resource=GroupResource(group, plural))

    for _ in range(2):
        await StorageObjectInUseProtection().mutate(attributes)

    assert obj["metadata"]["finalizers"] == ["example.com/x", finalizer]


async def test_a_claim_without_class_gets_the_newest_default(kept: Storage) -> None:
    await keep_class(kept, "old", annotations={DEFAULT: "true"})
    await keep_class(kept, "new", annotations={DEFAULT: "true"}, created="2030-01-02T00:00:00Z")
    await keep_class(kept, "newest", created="2030-01-03T00:00:00Z")
    obj = claim()

    await DefaultStorageClass(kept).mutate(of_claim(obj))

    assert obj["spec"]["storageClassName"] == "new"


async def test_a_claim_that_wants_no_class_gets_none(kept: Storage) -> None:
    await keep_class(kept, "default", annotations={DEFAULT: "true"})
    obj = claim(storageClassName="")

    await DefaultStorageClass(kept).mutate(of_claim(obj))

    assert obj["spec"]["storageClassName"] == ""


async def test_a_claim_grows_where_its_class_lets_it(kept: Storage) -> None:
    await keep_class(kept, "elastic", allowVolumeExpansion=True)
    growing = of_claim(claim("2Gi", storageClassName="elastic"), old=claim(storageClassName="elastic"))

    await PersistentVolumeClaimResize(kept).validate(growing)


@pytest.mark.parametrize(
    ("name", "phase", "why"),
    [
        ("elastic", "Pending", "Only bound persistent volume claims can be expanded"),
        ("rigid", "Bound", "the storageclass that provisions the pvc must support resize"),
        ("missing", "Bound", "only dynamically provisioned pvc can be resized"),
    ],
)
async def test_other_claims_do_not_grow(kept: Storage, name: str, phase: str, why: str) -> None:
    await keep_class(kept, "elastic", allowVolumeExpansion=True)
    await keep_class(kept, "rigid")
    old = {**claim(storageClassName=name), "status": {"phase": phase}}

    with pytest.raises(errors.Forbidden, match=why):
        await PersistentVolumeClaimResize(kept).validate(of_claim(claim("2Gi", storageClassName=name), old=old))


async def test_a_new_node_takes_no_pods_yet() -> None:
    taint = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    obj: dict[str, Any] = {"metadata": {"name": "n"}}

    for _ in range(2):
        await TaintNodesByCondition().mutate(write(obj, resource=GroupResource("", "nodes")))

    assert obj["spec"]["taints"] == [taint]
