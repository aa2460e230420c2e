"""NodeRestriction: limits a kubelet's writes to its own Node, pods, Lease, CSINode, ResourceSlices and certificate
requests.

The Node authorizer decides which objects a kubelet can reach. This plugin checks the content. Must hold: a user in
system:nodes whose name fits no node is refused.
"""

import base64
from collections.abc import Callable, Mapping

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.golang import pem
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.base.validation import differences, internal
from aio_apiserver.registry.generic.access.users import NODES, UserInfo
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.certificates.certificatesigningrequests import CERTIFICATESIGNINGREQUESTS
from aio_apiserver.registry.groups.coordination.leases import LEASES
from aio_apiserver.registry.groups.core.nodes.nodes import NODES as NODE_KIND
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts import SERVICEACCOUNTS
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.groups.resource.resourceslices import RESOURCESLICES
from aio_apiserver.registry.groups.storage.csinodes import CSINODES
from aio_apiserver.registry.plugins.admission.nodes import node_tokens
from aio_apiserver.registry.plugins.admission.nodes.node_tokens import NodeObjects
from aio_apiserver.registry.plugins.admission.nodes.pod_references import first_reference

_PREFIX = "system:node:"
_MIRROR = "kubernetes.io/config.mirror"
_LEASES = "kube-node-lease"
_RESTRICTED = "node-restriction.kubernetes.io"
_OF_KUBELETS = frozenset(
    {
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/instance-type",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "node.kubernetes.io/windows-build",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    }
)
_DOMAINS_OF_KUBELETS = ("kubelet.kubernetes.io", "node.kubernetes.io")
_DOMAINS_OF_KUBERNETES = ("kubernetes.io", "k8s.io")
_OWN_SIGNERS = frozenset({"kubernetes.io/kubelet-serving", "kubernetes.io/kube-apiserver-client-kubelet"})
_CLAIM_STATUS = ("capacity", "conditions", "allocatedResourceStatuses", "allocatedResources")
"""The members of a claim's status that kubelets report."""


def node_of(user: UserInfo) -> str | None:
    """The node of a kubelet's user: empty for a member of system:nodes without a node name, None for other users."""
    if not user.name.startswith(_PREFIX) or NODES not in user.groups:
        return None
    return user.name.removeprefix(_PREFIX)


class NodeRestriction(Plugin):
    """Reads pods, nodes and what they refer to through caches."""

    name = "NodeRestriction"
    operations = frozenset({Operation.CREATE, Operation.UPDATE, Operation.DELETE})

    def __init__(self, given: Foundation) -> None:
        self._known = NodeObjects(given)

    async def mutate(self, attributes: Attributes) -> None:
        node = node_of(attributes.user)
        if node is None:
            return
        if not node:
            raise refusals.forbidden(attributes, f"could not determine node from user {quote(attributes.user.name)}")
        resource = attributes.resource
        if resource == _PODS:
            await self._admit_pod(attributes, node)
        elif resource == _ACCOUNTS and attributes.subresource == "token":
            await node_tokens.admit(self._known, attributes, node)
        elif why := _RULES.get(resource, _fine)(attributes, node):
            raise refusals.forbidden(attributes, why)

    async def _admit_pod(self, attributes: Attributes, node: str) -> None:
        match attributes.subresource, attributes.operation:
            case "", Operation.CREATE:
                why = _why_no_pod(attributes.obj or {}, node) or await self._why_no_owner(attributes, node)
            case "", Operation.DELETE:
                pod = await self._known.pod(attributes.namespace, attributes.name)
                why = _unless_on(pod, node, f"node {quote(node)} can only delete pods with spec.nodeName set to itself")
            case "", operation:
                why = f"unexpected operation {quote(operation.value)}, "
                why += f"node {quote(node)} can only create and delete mirror pods"
            case "status", Operation.UPDATE:
                why = _why_no_status(attributes.obj or {}, attributes.old or {}, node)
            case "eviction", Operation.CREATE:
                pod = await self._known.pod(attributes.namespace, attributes.name)
                why = _unless_on(pod, node, f"node {node} can only evict pods with spec.nodeName set to itself")
            case "status" | "eviction", operation:
                why = f"unexpected operation {quote(operation.value)}"
            case subresource, _:
                why = f"unexpected pod subresource {quote(subresource)}, only 'status' and 'eviction' are allowed"
        if why:
            raise refusals.forbidden(attributes, why)

    async def _why_no_owner(self, attributes: Attributes, node: str) -> str:
        """Why the pod has another owner than this node, or which object it refers to; empty when both are right."""
        assert attributes.obj is not None
        (owner,) = attributes.obj["metadata"]["ownerReferences"]
        uid = (await self._known.node(node))["metadata"]["uid"]
        if owner.get("uid") != uid:
            return f"node {node} UID mismatch: expected {owner.get('uid', '')} got {uid}"
        resource = first_reference(attributes.obj["spec"])
        return f"node {quote(node)} can not create pods that reference {resource}" if resource else ""


def _unless_on(pod: Object, node: str, why: str) -> str:
    return "" if objects.get(pod, "spec.nodeName", "") == node else why


def _why_no_pod(pod: Object, node: str) -> str:
    subject, metadata = f"node {quote(node)}", pod["metadata"]
    if _MIRROR not in (metadata.get("annotations") or {}):
        return f"pod does not have {quote(_MIRROR)} annotation, {subject} can only create mirror pods"
    if objects.get(pod, "spec.nodeName", "") != node:
        return f"{subject} can only create pods with spec.nodeName set to itself"
    owners = metadata.get("ownerReferences") or ()
    if len(owners) > 1:
        return f"{subject} can only create pods with a single owner reference set to itself"
    if not owners or [owners[0].get(name) for name in ("apiVersion", "kind", "name")] != ["v1", "Node", node]:
        return f"{subject} can only create pods with an owner reference set to itself"
    if not owners[0].get("controller"):
        return f"{subject} can only create pods with a controller owner reference set to itself"
    if owners[0].get("blockOwnerDeletion"):
        return f"{subject} must not set blockOwnerDeletion on an owner reference"
    return ""


def _why_no_status(new: Object, old: Object, node: str) -> str:
    subject = f"node {quote(node)}"
    if objects.get(old, "spec.nodeName", "") != node:
        why = "can only update pod status for pods with spec.nodeName set to itself"
        return f"{subject} {why}"
    if (new["metadata"].get("labels") or {}) != (old["metadata"].get("labels") or {}):
        return f"{subject} cannot update labels through pod status"
    for name, what in (
        ("resourceClaimStatuses", "resource claim statues"),
        ("extendedResourceClaimStatus", "extended resource claim status"),
    ):
        if (objects.get(new, f"status.{name}") or None) != (objects.get(old, f"status.{name}") or None):
            return f"{subject} cannot update {what}"
    return ""


def _fine(_attributes: Attributes, _node: str) -> str:
    return ""


def _why_no_node(attributes: Attributes, node: str) -> str:
    subject, new, old = f"node {quote(node)}", attributes.obj or {}, attributes.old or {}
    name = attributes.name or (new.get("metadata") or {}).get("name", "")
    if name != node:
        return f"{subject} is not allowed to modify node {quote(name)}"
    if attributes.operation is Operation.DELETE:
        return ""
    source = objects.get(new, "spec.configSource")
    labels = _forbidden_labels(_labels(new), _labels(old))
    if attributes.operation is Operation.CREATE:
        if source is not None:
            return f"{subject} is not allowed to create pods with a non-nil configSource"
        return f"{subject} is not allowed to set the following labels: {labels}" if labels else ""
    if source is not None and source != objects.get(old, "spec.configSource"):
        return f"{subject} is not allowed to update configSource to a new non-nil configSource"
    if what := _kept_part(new, old):
        return f"{subject} is not allowed to modify {what}"
    return f"is not allowed to modify labels: {labels}" if labels else ""


def _kept_part(new: Object, old: Object) -> str:
    """The part of its node that a kubelet has changed and may not change; empty when there is none."""
    for what, path in (("taints", "spec.taints"), ("ownerReferences", "metadata.ownerReferences")):
        if (objects.get(new, path) or None) != (objects.get(old, path) or None):
            return what
    return ""


def _labels(obj: Object) -> Mapping[str, str]:
    labels: Mapping[str, str] = objects.get(obj, "metadata.labels", {})
    return labels


def _forbidden_labels(new: Mapping[str, str], old: Mapping[str, str]) -> str:
    """The changed labels that a kubelet may not change."""
    changed = {name for name in {*new, *old} if new.get(name) != old.get(name)}
    return ", ".join(sorted(name for name in changed if _is_forbidden(name)))


def _is_forbidden(label: str) -> bool:
    domain = label.partition("/")[0] if "/" in label else ""
    if _is_within(domain, (_RESTRICTED,)):
        return True
    is_kubelets = label in _OF_KUBELETS or _is_within(domain, _DOMAINS_OF_KUBELETS)
    return _is_within(domain, _DOMAINS_OF_KUBERNETES) and not is_kubelets


def _is_within(domain: str, domains: tuple[str, ...]) -> bool:
    return any(domain == one or domain.endswith(f".{one}") for one in domains)


def _why_no_claim(attributes: Attributes, node: str) -> str:
    if attributes.subresource != "status":
        return "may only update PVC status"
    if attributes.operation is not Operation.UPDATE:
        return f"unexpected operation {quote(attributes.operation.value)}"
    old, new = (
        internal.form("core.PersistentVolumeClaim", _without_report(one))
        for one in (attributes.old or {}, attributes.obj or {})
    )
    if old == new:
        return ""
    allowed = "is not allowed to update fields other than status.quantity and status.conditions"
    return f"node {quote(node)} {allowed}: {differences.unified(old, new)}"


def _without_report(claim: Object) -> Object:
    """A claim without the members that its kubelet may change."""
    metadata = {
        name: one for name, one in claim["metadata"].items() if name not in ("resourceVersion", "managedFields")
    }
    status = {name: one for name, one in (claim.get("status") or {}).items() if name not in _CLAIM_STATUS}
    return {**claim, "metadata": metadata, "status": status}


def _why_no_lease(attributes: Attributes, node: str) -> str:
    if attributes.namespace != _LEASES:
        return f"can only access leases in the {quote(_LEASES)} system namespace"
    return _unless_named(attributes, node, "can only access node lease with the same name as the requesting node")


def _why_no_csi_node(attributes: Attributes, node: str) -> str:
    return _unless_named(attributes, node, "can only access CSINode with the same name as the requesting node")


def _unless_named(attributes: Attributes, node: str, why: str) -> str:
    is_new = attributes.operation is Operation.CREATE and attributes.obj is not None
    name = attributes.obj["metadata"].get("name", "") if is_new and attributes.obj is not None else attributes.name
    return "" if name == node else why


def _why_no_slice(attributes: Attributes, node: str) -> str:
    if attributes.operation is Operation.UPDATE:
        return ""
    is_new = attributes.operation is Operation.CREATE
    shown = (attributes.obj if is_new else attributes.old) or {}
    verb = "create" if is_new else "delete"
    why = f"can only {verb} ResourceSlice with the same NodeName as the requesting node"
    return "" if objects.get(shown, "spec.nodeName") == node else why


def _why_no_certificate(attributes: Attributes, node: str) -> str:
    spec = (attributes.obj or {}).get("spec") or {}
    if attributes.operation is not Operation.CREATE or spec.get("signerName") not in _OWN_SIGNERS:
        return ""
    try:
        request = pem.read_request(base64.b64decode(spec.get("request") or ""))
    except pem.PemError as exc:
        return f"unable to parse csr: {exc}"
    wanted = f"{_PREFIX}{node}"
    return "" if pem.common_name(request) == wanted else f"can only create a node CSR with CN={wanted}"


_PODS = PODS.resource
_ACCOUNTS = SERVICEACCOUNTS.resource
_RULES: Mapping[GroupResource, Callable[[Attributes, str], str]] = {
    NODE_KIND.resource: _why_no_node,
    PERSISTENTVOLUMECLAIMS.resource: _why_no_claim,
    LEASES.resource: _why_no_lease,
    CSINODES.resource: _why_no_csi_node,
    RESOURCESLICES.resource: _why_no_slice,
    CERTIFICATESIGNINGREQUESTS.resource: _why_no_certificate,
}
"""Why a node may not write a resource; empty when it may."""
