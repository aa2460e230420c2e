"""Node rules: what the Node authorizer allows a kubelet, by resource.

Pure. Must hold: a node's own objects are recognized by name. Objects of pods are allowed when the graph relates them to
the node.
"""

from collections.abc import Callable, Mapping, Sequence

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.access.authorizer import ALLOWED, NO_OPINION, Attributes, Decision, Verdict
from aio_apiserver.registry.groups.coordination.leases import LEASES
from aio_apiserver.registry.groups.core.config.configmaps import CONFIGMAPS
from aio_apiserver.registry.groups.core.config.secrets import SECRETS
from aio_apiserver.registry.groups.core.nodes.nodes import NODES
from aio_apiserver.registry.groups.core.pods.pods import PODS
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts import SERVICEACCOUNTS
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.groups.core.volumes.persistentvolumes import PERSISTENTVOLUMES
from aio_apiserver.registry.groups.rbac import policy_rules
from aio_apiserver.registry.groups.resource.resourceclaims import RESOURCECLAIMS
from aio_apiserver.registry.groups.resource.resourceslices import RESOURCESLICES
from aio_apiserver.registry.groups.storage.csinodes import CSINODES
from aio_apiserver.registry.groups.storage.volumeattachments import VOLUMEATTACHMENTS
from aio_apiserver.storage.selection import Operator

_LEASES = "kube-node-lease"
_READ = ("get", "list", "watch")
_OWN = ("get", "create", "update", "patch", "delete")


def _rule(verbs: str, groups: str, resources: str) -> Mapping[str, Sequence[str]]:
    return {
        "verbs": verbs.split(),
        "apiGroups": ["" if group == "core" else group for group in groups.split()],
        "resources": resources.split(),
    }


RULES = policy_rules.compiled(
    (
        _rule("create", "authentication.k8s.io", "tokenreviews"),
        _rule("create", "authorization.k8s.io", "subjectaccessreviews localsubjectaccessreviews"),
        _rule("get list watch", "core", "services"),
        _rule("create update patch", "core events.k8s.io", "events"),
        _rule("get", "core", "endpoints"),
        _rule("create get list watch", "certificates.k8s.io", "certificatesigningrequests"),
        _rule("get list watch", "storage.k8s.io", "csidrivers"),
        _rule("get list watch", "node.k8s.io", "runtimeclasses"),
        _rule("get list watch", "certificates.k8s.io", "clustertrustbundles"),
    )
)
"""What all nodes may do."""

Related = Callable[[str, Attributes], Decision]
"""Whether the graph relates the object to the node."""
Decide = Callable[[Related, str, Attributes], Decision]


def no(reason: str = "") -> Decision:
    return Decision(Verdict.NO_OPINION, reason) if reason else NO_OPINION


def _readable(related: Related, node: str, attributes: Attributes) -> Decision:
    if attributes.verb not in _READ:
        return no("can only read resources of this type")
    if attributes.subresource:
        return no("cannot read subresource")
    if not attributes.namespace:
        return no("can only read namespaced object of this type")
    return related(node, attributes)


def _gettable(related: Related, node: str, attributes: Attributes) -> Decision:
    if attributes.verb != "get":
        return no("can only get individual resources of this type")
    if attributes.subresource:
        return no("cannot get subresource")
    return related(node, attributes)


def _claim(related: Related, node: str, attributes: Attributes) -> Decision:
    if attributes.subresource != "status":
        return _gettable(related, node, attributes)
    if attributes.verb not in ("update", "patch"):
        return no("can only get/update/patch this type")
    return related(node, attributes)


def _service_account(related: Related, node: str, attributes: Attributes) -> Decision:
    if attributes.verb == "get" and not attributes.subresource:
        return _readable(related, node, attributes)
    if attributes.verb != "create" or not attributes.name:
        return no("can only create tokens for individual service accounts")
    if attributes.subresource != "token":
        return no("can only create token subresource of serviceaccount")
    return related(node, attributes)


def _lease(_related: Related, node: str, attributes: Attributes) -> Decision:
    if attributes.verb not in _OWN:
        return no("can only get, create, update, patch, or delete a node lease")
    if attributes.namespace != _LEASES:
        return no(f"can only access leases in the {quote(_LEASES)} system namespace")
    if attributes.verb != "create" and attributes.name != node:
        return no("can only access node lease with the same name as the requesting node")
    return ALLOWED


def _csi_node(_related: Related, node: str, attributes: Attributes) -> Decision:
    if attributes.verb not in _OWN:
        return no("can only get, create, update, patch, or delete a CSINode")
    if attributes.subresource:
        return no("cannot authorize CSINode subresources")
    if attributes.verb != "create" and attributes.name != node:
        return no("can only access CSINode with the same name as the requesting node")
    return ALLOWED


def _node(_related: Related, node: str, attributes: Attributes) -> Decision:
    if attributes.subresource == "status":
        return ALLOWED if attributes.verb in ("update", "patch") else NO_OPINION
    if attributes.subresource:
        return NO_OPINION
    if attributes.verb in ("create", "update", "patch"):
        return ALLOWED
    if attributes.verb not in _READ:
        return NO_OPINION
    if attributes.name == node:
        return ALLOWED
    if not attributes.name:
        return no(f"node '{node}' cannot read all nodes, only its own Node object")
    return no(f"node '{node}' cannot read '{attributes.name}', only its own Node object")


def _pod(related: Related, node: str, attributes: Attributes) -> Decision:
    match attributes.subresource, attributes.verb:
        case "", "get":
            return _gettable(related, node, attributes)
        case "", "list" | "watch":
            if _is_limited(attributes, "spec.nodeName", node):
                return ALLOWED
            return related(node, attributes) if attributes.name else no(_ONLY_OWN_PODS)
        case ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create"):
            return ALLOWED
        case _:
            return NO_OPINION


_ONLY_OWN_PODS = "can only list/watch pods with spec.nodeName field selector"


def _is_limited(attributes: Attributes, field: str, node: str) -> bool:
    """Whether a list or watch selects the node's own objects."""
    return any(
        requirement.name == field and requirement.operator is Operator.IN and requirement.values == {node}
        for requirement in attributes.selectors.fields
    )


_SLICE_VERBS = "get, watch, list, create, update, patch, delete, deletecollection"


def _slice(related: Related, node: str, attributes: Attributes) -> Decision:
    if attributes.subresource:
        return no("cannot authorize ResourceSlice subresources")
    match attributes.verb:
        case "create":
            return ALLOWED
        case "get" | "update" | "patch" | "delete":
            return related(node, attributes)
        case "list" | "watch" | "deletecollection":
            is_limited = _is_limited(attributes, "spec.nodeName", node)
            return ALLOWED if is_limited else no(_ONLY_OWN_SLICES)
        case _:
            return no(f"only the following verbs are allowed for a ResourceSlice: {_SLICE_VERBS}")


_ONLY_OWN_SLICES = "can only list/watch/deletecollection resourceslices with nodeName field selector"

BY_RESOURCE: Mapping[tuple[str, str], Decide] = {
    (SECRETS.group, SECRETS.plural): _readable,
    (CONFIGMAPS.group, CONFIGMAPS.plural): _readable,
    (PERSISTENTVOLUMECLAIMS.group, PERSISTENTVOLUMECLAIMS.plural): _claim,
    (PERSISTENTVOLUMES.group, PERSISTENTVOLUMES.plural): _gettable,
    (SERVICEACCOUNTS.group, SERVICEACCOUNTS.plural): _service_account,
    (NODES.group, NODES.plural): _node,
    (PODS.group, PODS.plural): _pod,
    (LEASES.group, LEASES.plural): _lease,
    (RESOURCECLAIMS.group, RESOURCECLAIMS.plural): _gettable,
    (RESOURCESLICES.group, RESOURCESLICES.plural): _slice,
    (CSINODES.group, CSINODES.plural): _csi_node,
    (VOLUMEATTACHMENTS.group, VOLUMEATTACHMENTS.plural): _gettable,
}
