"""The one table of admission plugins, in the order in which they are called, and which of them are on.

A plugin is a row here and a file of its own. Must hold: the order is kube-apiserver's; a name that kube-apiserver has
is known even when nothing here does its work.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from registry.admission.certificate_approval import CertificateApproval
from registry.admission.certificate_signing import CertificateSigning
from registry.admission.certificate_subject_restriction import CertificateSubjectRestriction
from registry.admission.default_ingress_class import DefaultIngressClass
from registry.admission.default_storage_class import DefaultStorageClass
from registry.admission.default_toleration_seconds import DefaultTolerationSeconds
from registry.admission.interface import Chain, Plugin
from registry.admission.namespace_lifecycle import NamespaceLifecycle
from registry.admission.persistent_volume_claim_resize import PersistentVolumeClaimResize
from registry.admission.priority import Priority
from registry.admission.storage_object_in_use_protection import StorageObjectInUseProtection
from registry.admission.taint_nodes_by_condition import TaintNodesByCondition
from registry.config import Config
from registry.core.namespaces import NAMESPACES
from registry.generic.provider import resource_of
from registry.networking.ingressclasses import INGRESSCLASSES
from registry.rest import Foundation
from registry.scheduling.priorityclasses import PRIORITYCLASSES
from registry.storageclasses.storageclasses import STORAGECLASSES

Make = Callable[[Foundation], Plugin]


@dataclass(frozen=True, slots=True)
class Row:
    """A plugin by its name; without `make` there is none yet."""

    name: str
    make: Make | None = None
    is_default: bool = True


PLUGINS: tuple[Row, ...] = (
    Row("AlwaysAdmit", is_default=False),
    Row("NamespaceAutoProvision", is_default=False),
    Row("NamespaceLifecycle", lambda given: NamespaceLifecycle(given.storage_for(resource_of(NAMESPACES)))),
    Row("NamespaceExists", is_default=False),
    Row("LimitPodHardAntiAffinityTopology", is_default=False),
    Row("LimitRanger"),
    Row("ServiceAccount"),
    Row("NodeRestriction", is_default=False),
    Row("TaintNodesByCondition", lambda _given: TaintNodesByCondition()),
    Row("AlwaysPullImages", is_default=False),
    Row("ImagePolicyWebhook", is_default=False),
    Row("PodSecurity"),
    Row("PodNodeSelector", is_default=False),
    Row("Priority", lambda given: Priority(given.storage_for(resource_of(PRIORITYCLASSES)))),
    Row("DefaultTolerationSeconds", lambda _given: DefaultTolerationSeconds()),
    Row("PodTolerationRestriction", is_default=False),
    Row("EventRateLimit", is_default=False),
    Row("ExtendedResourceToleration", is_default=False),
    Row("DefaultStorageClass", lambda given: DefaultStorageClass(given.storage_for(resource_of(STORAGECLASSES)))),
    Row("StorageObjectInUseProtection", lambda _given: StorageObjectInUseProtection()),
    Row("PodGroupProtection"),
    Row("OwnerReferencesPermissionEnforcement", is_default=False),
    Row(
        "PersistentVolumeClaimResize",
        lambda given: PersistentVolumeClaimResize(given.storage_for(resource_of(STORAGECLASSES))),
    ),
    Row("RuntimeClass"),
    Row("CertificateApproval", lambda given: CertificateApproval(given.authorizer)),
    Row("CertificateSigning", lambda given: CertificateSigning(given.authorizer)),
    Row("ClusterTrustBundleAttest"),
    Row("CertificateSubjectRestriction", lambda _given: CertificateSubjectRestriction()),
    Row("DefaultIngressClass", lambda given: DefaultIngressClass(given.storage_for(resource_of(INGRESSCLASSES)))),
    Row("DenyServiceExternalIPs", is_default=False),
    Row("PodTopologyLabels"),
    Row("PodGroupWorkloadExists"),
    Row("NodeDeclaredFeatureValidator"),
    Row("JobValidation"),
    Row("PodResizeValidator"),
    Row("MutatingAdmissionPolicy"),
    Row("MutatingAdmissionWebhook"),
    Row("ValidatingAdmissionPolicy"),
    Row("ValidatingAdmissionWebhook"),
    Row("ResourceQuota"),
    Row("AlwaysDeny", is_default=False),
)

NAMES = tuple(row.name for row in PLUGINS)


def chain_of(given: Foundation) -> Chain:
    """The plugins that are on, in their order."""
    return Chain(tuple(make(given) for make in _makers(given.config)))


def _makers(config: Config) -> Iterator[Make]:
    for row in PLUGINS:
        is_on = row.name in config.enabled_admission or (row.is_default and row.name not in config.disabled_admission)
        if is_on and row.make is not None:
            yield row.make
