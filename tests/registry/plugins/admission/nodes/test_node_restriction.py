"""NodeRestriction: the writes of kubelets."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec.structs import replace

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.access.authorizer import NO_OPINION, Decision, Rules
from aio_apiserver.registry.generic.access.authorizer import Attributes as Question
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.groups.core.nodes.nodes import NODES
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.plugins.admission.nodes.node_restriction import NodeRestriction
from tests.registry.foundations import foundation
from tests.registry.plugins.admission.writes import write

KUBELET = UserInfo(name="system:node:n1", groups=("system:nodes",))
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": "u-n1", "controller": True}
MIRROR = {"name": "m", "annotations": {"kubernetes.io/config.mirror": "x"}, "ownerReferences": [OWNER]}
TOKENS = {"projected": {"sources": [{"serviceAccountToken": {"audience": "a"}}]}}


class Nobody:
    """Allows nothing."""

    async def authorize(self, attributes: Question) -> Decision:
        return NO_OPINION

    async def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        return Rules()


@pytest.fixture
async def plugin() -> AsyncIterator[NodeRestriction]:
    async with foundation(authorizer=Nobody()) as given:
        await given.writable_storage_for(resource_of(NODES)).create("n1", {"metadata": {"name": "n1", "uid": "u-n1"}})
        pods = given.writable_storage_for(resource_of(PODS))
        for name, node in (("here", "n1"), ("there", "n2")):
            metadata = {"name": name, "namespace": "default", "uid": f"u-{name}"}
            await pods.create(
                f"default/{name}", {"metadata": metadata, "spec": {"nodeName": node, "volumes": [TOKENS]}}
            )
        volumes = [{"persistentVolumeClaim": {"claimName": "c"}}, {"csi": {"driver": "d"}}, {"cinder": {}}]
        metadata = {"name": "bound", "namespace": "default", "uid": "u-bound"}
        await pods.create("default/bound", {"metadata": metadata, "spec": {"nodeName": "n1", "volumes": volumes}})
        yield NodeRestriction(given)


def by_kubelet(attributes: Attributes, **more: Any) -> Attributes:
    return replace(attributes, user=KUBELET, **more)


def of(resource: str, obj: dict[str, Any], group: str = "", **more: Any) -> Attributes:
    return by_kubelet(write(obj, resource=GroupResource(group, resource), **more))


def mirror(spec: dict[str, Any] | None = None, **metadata: Any) -> Attributes:
    return of("pods", {"metadata": {**MIRROR, **metadata}, "spec": {"nodeName": "n1", **(spec or {})}})


def token(pod: str, *audiences: str, uid: str = "") -> Attributes:
    reference = {"apiVersion": "v1", "kind": "Pod", "name": pod, "uid": uid or f"u-{pod}"}
    spec = {"audiences": list(audiences), "boundObjectRef": reference}
    return of("serviceaccounts", {"metadata": {"name": "sa"}, "spec": spec}, subresource="token")


async def test_who_is_no_kubelet_is_not_restricted(plugin: NodeRestriction) -> None:
    await plugin.mutate(write({"metadata": {"name": "p"}, "spec": {}}))


async def test_a_kubelet_of_no_node_may_nothing(plugin: NodeRestriction) -> None:
    user = replace(KUBELET, name="system:node:")

    with pytest.raises(errors.Forbidden, match='could not determine node from user "system:node:"'):
        await plugin.mutate(replace(mirror(), user=user))


@pytest.mark.parametrize(
    "attributes",
    [
        mirror(),
        token("here", "a"),
        of("nodes", {"metadata": {"name": "n1", "labels": {"kubernetes.io/os": "linux", "own": "x"}}}),
        by_kubelet(of("pods", {"metadata": {}}), operation=Operation.DELETE, name="here", obj=None),
        of("leases", {"metadata": {"name": "n1"}}, "coordination.k8s.io"),
    ],
)
async def test_a_kubelet_does_its_work(plugin: NodeRestriction, attributes: Attributes) -> None:
    if attributes.resource.resource == "leases":
        attributes = replace(attributes, namespace="kube-node-lease")

    await plugin.mutate(attributes)


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        (mirror(annotations={}), "can only create mirror pods"),
        (mirror({"nodeName": "n2"}), "can only create pods with spec.nodeName set to itself"),
        (mirror(ownerReferences=[]), "an owner reference set to itself"),
        (mirror(ownerReferences=[{**OWNER, "uid": "other"}]), "node n1 UID mismatch: expected other got u-n1"),
        (mirror({"serviceAccountName": "a"}), "can not create pods that reference serviceaccounts"),
        (mirror({"volumes": [{"secret": {"secretName": "s"}}]}), "can not create pods that reference secrets"),
        (token("there", "a"), "a pod scheduled on a different node"),
        (token("here", "a", uid="old"), "does not match the UID in record"),
        (token("here", "b"), "is not authorized to request tokens for this audience"),
        (token("here", "a", "b"), "node may only request 0 or 1 audiences"),
        (of("nodes", {"metadata": {"name": "n2"}}), 'node "n1" is not allowed to modify node "n2"'),
        (
            of("nodes", {"metadata": {"name": "n1", "labels": {"node-restriction.kubernetes.io/x": "y"}}}),
            "not allowed to set the following labels: node-restriction.kubernetes.io/x",
        ),
        (
            of(
                "nodes",
                {"metadata": {"name": "n1"}, "spec": {"taints": []}},
                old={"metadata": {"name": "n1"}, "spec": {"taints": [{"key": "k"}]}},
            ),
            "is not allowed to modify taints",
        ),
        (of("leases", {"metadata": {"name": "n1"}}, "coordination.k8s.io"), "can only access leases in the"),
        (of("csinodes", {"metadata": {"name": "n2"}}, "storage.k8s.io"), "can only access CSINode with the same name"),
        (of("persistentvolumeclaims", {"metadata": {"name": "c"}}), "may only update PVC status"),
    ],
)
async def test_a_kubelet_keeps_its_hands_off_the_rest(
    plugin: NodeRestriction, attributes: Attributes, why: str
) -> None:
    if attributes.resource.resource != "pods" and not attributes.name:
        attributes = replace(attributes, name=(attributes.obj or {})["metadata"]["name"])

    with pytest.raises(errors.Forbidden) as caught:
        await plugin.mutate(attributes)

    assert why in caught.value.message


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        (
            mirror({"resourceClaims": [{"name": "gpu", "resourceClaimName": "of-another"}]}),
            "can not create pods that reference resourceclaims",
        ),
        (
            of(
                "pods",
                {"metadata": {}, "status": {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "x"}]}},
                old={"metadata": {}, "spec": {"nodeName": "n1"}, "status": {}},
                subresource="status",
            ),
            "cannot update resource claim statues",
        ),
    ],
)
async def test_a_kubelet_takes_no_device_of_another_pod(
    plugin: NodeRestriction, attributes: Attributes, why: str
) -> None:
    """CVE-2025-4563: a mirror pod with a resource claim gets the device without admission."""
    with pytest.raises(errors.Forbidden, match=why):
        await plugin.mutate(attributes)


@pytest.mark.parametrize("owners", [[{**OWNER, "uid": "none"}], []])
async def test_a_kubelet_cannot_have_its_own_node_collected(plugin: NodeRestriction, owners: list[Any]) -> None:
    """CVE-2025-5187: with an owner that does not exist, the garbage collector deletes the node."""
    old = {"metadata": {"name": "n1", "ownerReferences": [OWNER]}}
    new = {"metadata": {"name": "n1", "ownerReferences": owners}}

    with pytest.raises(errors.Forbidden, match="is not allowed to modify ownerReferences"):
        await plugin.mutate(of("nodes", new, old=old))


async def test_what_a_volume_needs_and_is_not_there_is_told(plugin: NodeRestriction) -> None:
    with pytest.raises(errors.NotFound, match=r'^pod "nowhere" not found$'):
        await plugin.mutate(token("nowhere"))
    with pytest.raises(errors.Forbidden) as caught:
        await plugin.mutate(token("bound", "b"))

    claim, *drivers = "c", "d", "cinder.csi.openstack.org"
    missing = [f'persistentvolumeclaim "{claim}"', *(f'csidriver.storage.k8s.io "{name}"' for name in drivers)]
    why = f'error validating audience "b": [{", ".join(f"{one} not found" for one in missing)}]'
    assert caught.value.message.endswith(why)
