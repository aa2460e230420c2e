"""admission_plugins: the table of kube-apiserver's admission plugins, in their order, with their defaults.

A plugin is a row here and a file of its own. Must hold: the order is kube-apiserver's. The names of all
kube-apiserver's plugins are known, also of those without an implementation.
"""

from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.minors import Minor
from aio_apiserver.registry.base.timeline import Lifetime, Version
from aio_apiserver.registry.generic.admission.chain import AdmissionMetrics, MeasuredChain
from aio_apiserver.registry.generic.admission.interface import Plugin
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.core.namespaces.limitranges import LIMITRANGES
from aio_apiserver.registry.groups.core.namespaces.namespaces import NAMESPACES
from aio_apiserver.registry.groups.core.nodes.nodes import NODES
from aio_apiserver.registry.groups.core.serviceaccounts.serviceaccounts import SERVICEACCOUNTS
from aio_apiserver.registry.groups.networking.ingressclasses import INGRESSCLASSES
from aio_apiserver.registry.groups.node.runtimeclasses import RUNTIMECLASSES
from aio_apiserver.registry.groups.scheduling.priorityclasses import PRIORITYCLASSES
from aio_apiserver.registry.groups.storage.storageclasses import STORAGECLASSES
from aio_apiserver.registry.plugins.admission.certificates.certificate_approval import CertificateApproval
from aio_apiserver.registry.plugins.admission.certificates.certificate_signing import CertificateSigning
from aio_apiserver.registry.plugins.admission.certificates.certificate_subject_restriction import (
    CertificateSubjectRestriction,
)
from aio_apiserver.registry.plugins.admission.namespaces.limit_ranger import LimitRanger
from aio_apiserver.registry.plugins.admission.namespaces.namespace_lifecycle import NamespaceLifecycle
from aio_apiserver.registry.plugins.admission.networking.default_ingress_class import DefaultIngressClass
from aio_apiserver.registry.plugins.admission.nodes.node_declared_feature_validator import NodeDeclaredFeatureValidator
from aio_apiserver.registry.plugins.admission.nodes.nodes_of_pods import NodesOfPods
from aio_apiserver.registry.plugins.admission.nodes.pod_resize_validator import PodResizeValidator
from aio_apiserver.registry.plugins.admission.nodes.pod_topology_labels import PodTopologyLabels
from aio_apiserver.registry.plugins.admission.nodes.taint_nodes_by_condition import TaintNodesByCondition
from aio_apiserver.registry.plugins.admission.pods import default_toleration_seconds, pod_security
from aio_apiserver.registry.plugins.admission.pods.priority import Priority
from aio_apiserver.registry.plugins.admission.pods.runtime_class import RuntimeClass
from aio_apiserver.registry.plugins.admission.pods.service_account import ServiceAccount
from aio_apiserver.registry.plugins.admission.policies import plugins as policies
from aio_apiserver.registry.plugins.admission.storage.default_storage_class import DefaultStorageClass
from aio_apiserver.registry.plugins.admission.storage.persistent_volume_claim_resize import PersistentVolumeClaimResize
from aio_apiserver.registry.plugins.admission.storage.storage_object_in_use_protection import (
    StorageObjectInUseProtection,
)
from aio_apiserver.registry.plugins.admission.webhooks.mutating import MutatingAdmissionWebhook
from aio_apiserver.registry.plugins.admission.webhooks.validating import ValidatingAdmissionWebhook
from aio_apiserver.storage.interface import Reader

if TYPE_CHECKING:
    from aio_apiserver.registry.generic.admission import traced_calls
    from aio_apiserver.registry.plugins.admission import (
        always,
        event_rate_limit,
        owner_references_permission_enforcement,
    )
    from aio_apiserver.registry.plugins.admission.namespaces import (
        namespace_auto_provision,
        namespace_exists,
        resource_quota,
    )
    from aio_apiserver.registry.plugins.admission.networking import deny_service_external_ips
    from aio_apiserver.registry.plugins.admission.nodes import node_restriction
    from aio_apiserver.registry.plugins.admission.pods import (
        always_pull_images,
        extended_resource_toleration,
        image_policy_webhook,
        limit_pod_hard_anti_affinity_topology,
        pod_node_selector,
        pod_toleration_restriction,
        simulation_annotations,
    )
else:
    traced_calls = Deferred("aio_apiserver.registry.generic.admission.traced_calls")
    always = Deferred("aio_apiserver.registry.plugins.admission.always")
    always_pull_images = Deferred("aio_apiserver.registry.plugins.admission.pods.always_pull_images")
    deny_service_external_ips = Deferred(
        "aio_apiserver.registry.plugins.admission.networking.deny_service_external_ips"
    )
    event_rate_limit = Deferred("aio_apiserver.registry.plugins.admission.event_rate_limit")
    extended_resource_toleration = Deferred(
        "aio_apiserver.registry.plugins.admission.pods.extended_resource_toleration"
    )
    image_policy_webhook = Deferred("aio_apiserver.registry.plugins.admission.pods.image_policy_webhook")
    limit_pod_hard_anti_affinity_topology = Deferred(
        "aio_apiserver.registry.plugins.admission.pods.limit_pod_hard_anti_affinity_topology"
    )
    namespace_auto_provision = Deferred("aio_apiserver.registry.plugins.admission.namespaces.namespace_auto_provision")
    namespace_exists = Deferred("aio_apiserver.registry.plugins.admission.namespaces.namespace_exists")
    node_restriction = Deferred("aio_apiserver.registry.plugins.admission.nodes.node_restriction")
    owner_references_permission_enforcement = Deferred(
        "aio_apiserver.registry.plugins.admission.owner_references_permission_enforcement"
    )
    pod_node_selector = Deferred("aio_apiserver.registry.plugins.admission.pods.pod_node_selector")
    pod_toleration_restriction = Deferred("aio_apiserver.registry.plugins.admission.pods.pod_toleration_restriction")
    resource_quota = Deferred("aio_apiserver.registry.plugins.admission.namespaces.resource_quota")
    simulation_annotations = Deferred("aio_apiserver.registry.plugins.admission.pods.simulation_annotations")

Make = Callable[[Foundation], Plugin]


def _storage(given: Foundation, kind: Kind) -> Reader:
    return given.storage_for(resource_of(kind))


class Row(Struct, frozen=True):
    """A plugin by its name; without `make` it has no effect, because its alpha feature is off.

    gate: the feature gate without which it has no effect. during: the minors that know it.
    """

    name: str
    make: Make | None = None
    is_default: bool = True
    gate: str = ""
    during: Lifetime = Lifetime()

    def has_effect(self, config: Config, minor: Minor) -> bool:
        """Whether it runs in a server with this configuration."""
        is_on = self.name in config.enabled_admission or (
            self.is_default and self.name not in config.disabled_admission
        )
        return is_on and self.during.has(minor.version) and (not self.gate or minor.is_open(self.gate))


PLUGINS: tuple[Row, ...] = (
    Row("AlwaysAdmit", lambda _given: always.AlwaysAdmit(), is_default=False),
    Row(
        "NamespaceAutoProvision", lambda given: namespace_auto_provision.NamespaceAutoProvision(given), is_default=False
    ),
    Row("NamespaceLifecycle", lambda given: NamespaceLifecycle(given.storage_for(resource_of(NAMESPACES)))),
    Row(
        "NamespaceExists", lambda given: namespace_exists.NamespaceExists(_storage(given, NAMESPACES)), is_default=False
    ),
    Row(
        "LimitPodHardAntiAffinityTopology",
        lambda _given: limit_pod_hard_anti_affinity_topology.LimitPodHardAntiAffinityTopology(),
        is_default=False,
    ),
    Row("LimitRanger", lambda given: LimitRanger(_storage(given, LIMITRANGES))),
    Row("ServiceAccount", lambda given: ServiceAccount(_storage(given, SERVICEACCOUNTS), given.clock)),
    Row("NodeRestriction", lambda given: node_restriction.NodeRestriction(given), is_default=False),
    Row("TaintNodesByCondition", lambda _given: TaintNodesByCondition()),
    Row("AlwaysPullImages", lambda _given: always_pull_images.AlwaysPullImages(), is_default=False),
    Row("ImagePolicyWebhook", lambda given: image_policy_webhook.make(given), is_default=False),
    Row("PodSecurity", pod_security.make),
    Row("PodNodeSelector", lambda given: pod_node_selector.make(given), is_default=False),
    Row("Priority", lambda given: Priority(given.storage_for(resource_of(PRIORITYCLASSES)))),
    Row("DefaultTolerationSeconds", default_toleration_seconds.make),
    Row("PodTolerationRestriction", lambda given: pod_toleration_restriction.make(given), is_default=False),
    Row("EventRateLimit", lambda given: event_rate_limit.make(given), is_default=False),
    Row(
        "ExtendedResourceToleration",
        lambda _given: extended_resource_toleration.ExtendedResourceToleration(),
        is_default=False,
    ),
    Row("DefaultStorageClass", lambda given: DefaultStorageClass(given.storage_for(resource_of(STORAGECLASSES)))),
    Row("StorageObjectInUseProtection", lambda _given: StorageObjectInUseProtection()),
    Row("PodGroupProtection", during=Lifetime(since=(1, 36))),
    Row(
        "OwnerReferencesPermissionEnforcement",
        lambda given: owner_references_permission_enforcement.make(given),
        is_default=False,
    ),
    Row(
        "PersistentVolumeClaimResize",
        lambda given: PersistentVolumeClaimResize(given.storage_for(resource_of(STORAGECLASSES))),
    ),
    Row("RuntimeClass", lambda given: RuntimeClass(_storage(given, RUNTIMECLASSES))),
    Row("CertificateApproval", lambda given: CertificateApproval(given.authorizer)),
    Row("CertificateSigning", lambda given: CertificateSigning(given.authorizer)),
    Row("ClusterTrustBundleAttest"),
    Row("CertificateSubjectRestriction", lambda _given: CertificateSubjectRestriction()),
    Row("DefaultIngressClass", lambda given: DefaultIngressClass(given.storage_for(resource_of(INGRESSCLASSES)))),
    Row("DenyServiceExternalIPs", lambda _given: deny_service_external_ips.DenyServiceExternalIPs(), is_default=False),
    Row(
        "PodTopologyLabels",
        lambda given: PodTopologyLabels(_storage(given, NODES)),
        gate="PodTopologyLabelsAdmission",
    ),
    Row("PodGroupWorkloadExists", during=Lifetime(since=(1, 36), until=(1, 37))),
    Row(
        "NodeDeclaredFeatureValidator",
        lambda given: NodeDeclaredFeatureValidator(NodesOfPods(_storage(given, NODES))),
        gate="NodeDeclaredFeatures",
        during=Lifetime(since=(1, 35)),
    ),
    Row("JobValidation", during=Lifetime(since=(1, 36), until=(1, 37))),
    Row(
        "PodResizeValidator",
        lambda given: PodResizeValidator(NodesOfPods(_storage(given, NODES))),
        during=Lifetime(since=(1, 36)),
    ),
    Row("MutatingAdmissionPolicy", policies.mutating, gate="MutatingAdmissionPolicy"),
    Row("MutatingAdmissionWebhook", MutatingAdmissionWebhook),
    Row("ValidatingAdmissionPolicy", policies.validating),
    Row("ValidatingAdmissionWebhook", ValidatingAdmissionWebhook),
    Row("ResourceQuota", lambda given: resource_quota.make(given)),
    Row("AlwaysDeny", lambda _given: always.AlwaysDeny(), is_default=False),
)

NAMES = tuple(row.name for row in PLUGINS)
"""The plugins of all minors."""


def names_at(version: Version) -> Collection[str]:
    """The plugins that a minor knows."""
    return [row.name for row in PLUGINS if row.during.has(version)]


def chain_of(given: Foundation) -> MeasuredChain:
    """The enabled plugins, in their order. Raises ValueError, OSError."""
    trace = traced_calls.traced if given.config.traces_admission else None
    plugins = list(_enabled_plugins(given))
    return MeasuredChain(plugins, given.metrics.of(AdmissionMetrics), given.clock.patience, trace)


def _enabled_plugins(given: Foundation) -> Iterator[Plugin]:
    for row in PLUGINS:
        if row.make is not None and row.has_effect(given.config, given.minor):
            try:
                yield row.make(given)
            except ValueError as exc:
                raise ValueError(f"couldn't init admission plugin {quote(row.name)}: {exc}") from exc
    if given.config.simulates:
        yield simulation_annotations.SimulationAnnotations()
