"""Node rules: what the Node authorizer allows a kubelet, by resource.

Pure. Must hold: a node's own objects are recognized by name. Objects of pods are allowed when the graph relates them to
the node.
"""

from collections.abc import Callable, Mapping, Sequence

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.access.authorizer import ALLOWED, NO_OPINION, Attributes, Decision, Verdict
from aio_apiserver.registry.groups.rbac import policy_rules
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


def _readable(related: Related, node: str, asked: Attributes) -> Decision:
    if asked.verb not in _READ:
        return no("can only read resources of this type")
    if asked.subresource:
        return no("cannot read subresource")
    if not asked.namespace:
        return no("can only read namespaced object of this type")
    return related(node, asked)


def _gettable(related: Related, node: str, asked: Attributes) -> Decision:
    if asked.verb != "get":
        return no("can only get individual resources of this type")
    if asked.subresource:
        return no("cannot get subresource")
    return related(node, asked)


def _claim(related: Related, node: str, asked: Attributes) -> Decision:
    if asked.subresource != "status":
        return _gettable(related, node, asked)
    if asked.verb not in ("update", "patch"):
        return no("can only get/update/patch this type")
    return related(node, asked)


def _service_account(related: Related, node: str, asked: Attributes) -> Decision:
    if asked.verb == "get" and not asked.subresource:
        return _readable(related, node, asked)
    if asked.verb != "create" or not asked.name:
        return no("can only create tokens for individual service accounts")
    if asked.subresource != "token":
        return no("can only create token subresource of serviceaccount")
    return related(node, asked)


def _lease(_related: Related, node: str, asked: Attributes) -> Decision:
    if asked.verb not in _OWN:
        return no("can only get, create, update, patch, or delete a node lease")
    if asked.namespace != _LEASES:
        return no(f"can only access leases in the {quote(_LEASES)} system namespace")
    if asked.verb != "create" and asked.name != node:
        return no("can only access node lease with the same name as the requesting node")
    return ALLOWED


def _csi_node(_related: Related, node: str, asked: Attributes) -> Decision:
    if asked.verb not in _OWN:
        return no("can only get, create, update, patch, or delete a CSINode")
    if asked.subresource:
        return no("cannot authorize CSINode subresources")
    if asked.verb != "create" and asked.name != node:
        return no("can only access CSINode with the same name as the requesting node")
    return ALLOWED


def _node(_related: Related, node: str, asked: Attributes) -> Decision:
    if asked.subresource == "status":
        return ALLOWED if asked.verb in ("update", "patch") else NO_OPINION
    if asked.subresource:
        return NO_OPINION
    if asked.verb in ("create", "update", "patch"):
        return ALLOWED
    if asked.verb not in _READ:
        return NO_OPINION
    if asked.name == node:
        return ALLOWED
    if not asked.name:
        return no(f"node '{node}' cannot read all nodes, only its own Node object")
    return no(f"node '{node}' cannot read '{asked.name}', only its own Node object")


def _pod(related: Related, node: str, asked: Attributes) -> Decision:
    match asked.subresource, asked.verb:
        case "", "get":
            return _gettable(related, node, asked)
        case "", "list" | "watch":
            if _is_limited(asked, "spec.nodeName", node):
                return ALLOWED
            return related(node, asked) if asked.name else no(_ONLY_OWN_PODS)
        case ("", "create" | "delete") | ("status", "update" | "patch") | ("eviction", "create"):
            return ALLOWED
        case _:
            return NO_OPINION


_ONLY_OWN_PODS = "can only list/watch pods with spec.nodeName field selector"


def _is_limited(asked: Attributes, field: str, node: str) -> bool:
    """Whether a list or watch selects the node's own objects."""
    return any(
        requirement.name == field and requirement.operator is Operator.IN and requirement.values == {node}
        for requirement in asked.selectors.fields
    )


_SLICE_VERBS = "get, watch, list, create, update, patch, delete, deletecollection"


def _slice(related: Related, node: str, asked: Attributes) -> Decision:
    if asked.subresource:
        return no("cannot authorize ResourceSlice subresources")
    match asked.verb:
        case "create":
            return ALLOWED
        case "get" | "update" | "patch" | "delete":
            return related(node, asked)
        case "list" | "watch" | "deletecollection":
            is_limited = _is_limited(asked, "spec.nodeName", node)
            return ALLOWED if is_limited else no(_ONLY_OWN_SLICES)
        case _:
            return no(f"only the following verbs are allowed for a ResourceSlice: {_SLICE_VERBS}")


_ONLY_OWN_SLICES = "can only list/watch/deletecollection resourceslices with nodeName field selector"

BY_RESOURCE: Mapping[tuple[str, str], Decide] = {
    ("", "secrets"): _readable,
    ("", "configmaps"): _readable,
    ("", "persistentvolumeclaims"): _claim,
    ("", "persistentvolumes"): _gettable,
    ("", "serviceaccounts"): _service_account,
    ("", "nodes"): _node,
    ("", "pods"): _pod,
    ("coordination.k8s.io", "leases"): _lease,
    ("resource.k8s.io", "resourceclaims"): _gettable,
    ("resource.k8s.io", "resourceslices"): _slice,
    ("storage.k8s.io", "csinodes"): _csi_node,
    ("storage.k8s.io", "volumeattachments"): _gettable,
}
