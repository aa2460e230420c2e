"""Catalog: the controllers by name, with the names of kube-controller-manager."""

from collections.abc import Mapping

from aio_apiserver.controllers.certificate_requests import (
    CertificateApprover,
    CertificateCleaner,
    CertificateSigner,
)
from aio_apiserver.controllers.cluster_roles import ClusterRoleAggregation
from aio_apiserver.controllers.cron_jobs import CronJobController
from aio_apiserver.controllers.daemon_sets import DaemonSetController
from aio_apiserver.controllers.deployments import DeploymentController
from aio_apiserver.controllers.disruptions import DisruptionController
from aio_apiserver.controllers.endpoint_mirroring import EndpointSliceMirroring
from aio_apiserver.controllers.endpoints import EndpointsController, EndpointSlices
from aio_apiserver.controllers.ephemeral_volumes import EphemeralVolumes
from aio_apiserver.controllers.finished_jobs import FinishedJobs
from aio_apiserver.controllers.garbage_collector import GarbageCollector
from aio_apiserver.controllers.jobs import JobController
from aio_apiserver.controllers.namespace_defaults import RootCertificatePublisher, ServiceAccountController
from aio_apiserver.controllers.namespaces import NamespaceController
from aio_apiserver.controllers.node_lifecycle import NodeLifecycle
from aio_apiserver.controllers.persistent_volumes import PersistentVolumeBinder
from aio_apiserver.controllers.pod_autoscalers import HorizontalPodAutoscalers
from aio_apiserver.controllers.pod_garbage import PodGarbageCollector
from aio_apiserver.controllers.replica_sets import ReplicaSetController, ReplicationControllerController
from aio_apiserver.controllers.resource_claims import ResourceClaimController
from aio_apiserver.controllers.resource_quotas import ResourceQuotaController
from aio_apiserver.controllers.runtime.controller import Controller
from aio_apiserver.controllers.service_cidrs import ServiceCIDRController
from aio_apiserver.controllers.stateful_sets import StatefulSetController
from aio_apiserver.controllers.taint_eviction import TaintEviction
from aio_apiserver.controllers.volume_protection import ClaimProtection, VolumeProtection

CONTROLLERS: Mapping[str, type[Controller]] = {
    one.name: one
    for one in (
        CertificateApprover,
        CertificateCleaner,
        CertificateSigner,
        ClaimProtection,
        ClusterRoleAggregation,
        CronJobController,
        DaemonSetController,
        DeploymentController,
        DisruptionController,
        EndpointSliceMirroring,
        EndpointSlices,
        EndpointsController,
        EphemeralVolumes,
        FinishedJobs,
        GarbageCollector,
        HorizontalPodAutoscalers,
        JobController,
        NamespaceController,
        NodeLifecycle,
        PersistentVolumeBinder,
        PodGarbageCollector,
        ReplicaSetController,
        ReplicationControllerController,
        ResourceClaimController,
        ResourceQuotaController,
        RootCertificatePublisher,
        ServiceAccountController,
        ServiceCIDRController,
        StatefulSetController,
        TaintEviction,
        VolumeProtection,
    )
}
