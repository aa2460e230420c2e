"""Other versions of a kind: those in which an object can be read, though not at the path that it was sent to.

Pure. OLD has the versions that kube-apiserver still reads and no longer serves, and kinds that it never served.
"""

from collections.abc import Mapping

from aio_apiserver.registry.base.names import GroupVersionKind

_APPS = "Deployment StatefulSet ControllerRevision"
_RBAC = "Role RoleBinding ClusterRole ClusterRoleBinding"
_FLOWS = "FlowSchema PriorityLevelConfiguration"
_POLICIES = "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding"

OLD: Mapping[str, str] = {
    "admissionregistration.k8s.io/v1alpha1": _POLICIES,
    "admissionregistration.k8s.io/v1beta1": f"ValidatingWebhookConfiguration MutatingWebhookConfiguration {_POLICIES}",
    "apiextensions.k8s.io/v1beta1": "CustomResourceDefinition",
    "apiregistration.k8s.io/v1beta1": "APIService",
    "apps/v1beta1": _APPS,
    "apps/v1beta2": f"{_APPS} DaemonSet ReplicaSet",
    "authentication.k8s.io/v1alpha1": "SelfSubjectReview",
    "authentication.k8s.io/v1beta1": "SelfSubjectReview TokenReview",
    "authorization.k8s.io/v1beta1": "SelfSubjectRulesReview SelfSubjectAccessReview SubjectAccessReview "
    "LocalSubjectAccessReview",
    "batch/v1beta1": "CronJob",
    "certificates.k8s.io/v1beta1": "CertificateSigningRequest",
    "coordination.k8s.io/v1beta1": "Lease",
    "discovery.k8s.io/v1beta1": "EndpointSlice",
    "events.k8s.io/v1beta1": "Event",
    "extensions/v1beta1": "Deployment DaemonSet Ingress ReplicaSet NetworkPolicy",
    "flowcontrol.apiserver.k8s.io/v1beta1": _FLOWS,
    "flowcontrol.apiserver.k8s.io/v1beta2": _FLOWS,
    "flowcontrol.apiserver.k8s.io/v1beta3": _FLOWS,
    "networking.k8s.io/v1beta1": "Ingress IngressClass",
    "node.k8s.io/v1alpha1": "RuntimeClass",
    "node.k8s.io/v1beta1": "RuntimeClass",
    "policy/v1beta1": "PodDisruptionBudget Eviction",
    "rbac.authorization.k8s.io/v1alpha1": _RBAC,
    "rbac.authorization.k8s.io/v1beta1": _RBAC,
    "scheduling.k8s.io/v1beta1": "PriorityClass",
    "storage.k8s.io/v1alpha1": "VolumeAttachment CSIStorageCapacity VolumeAttributesClass",
    "v1": "List PodStatusResult RangeAllocation SerializedReference",
    "storage.k8s.io/v1beta1": "StorageClass VolumeAttachment CSIDriver CSINode CSIStorageCapacity",
}
"""Kinds by apiVersion."""

_ONE_KIND = (frozenset({("", "Event"), ("events.k8s.io", "Event")}),)
"""Kinds of different groups that are one and the same."""


def is_old(kind: GroupVersionKind) -> bool:
    """Whether kube-apiserver reads a kind in a version that it does not serve."""
    return kind.kind in OLD.get(kind.api_version, "").split()


def are_one_kind(kind: GroupVersionKind, other: GroupVersionKind) -> bool:
    """Whether two kinds are the same, in whichever groups and versions; both must be kinds that can be read."""
    pair = {(kind.group, kind.kind), (other.group, other.kind)}
    is_moved = kind.kind == other.kind and "extensions" in (kind.group, other.group)
    return len(pair) == 1 or is_moved or any(pair <= same for same in _ONE_KIND)
