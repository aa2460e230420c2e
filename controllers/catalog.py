"""Catalog: the controllers by name, with the names of kube-controller-manager."""

from collections.abc import Mapping

from aio_apiserver.controllers.access.certificate_requests import (
    CertificateApprover,
    CertificateCleaner,
    CertificateSigner,
)
from aio_apiserver.controllers.access.cluster_roles import ClusterRoleAggregation
from aio_apiserver.controllers.autoscaling.pod_autoscalers import HorizontalPodAutoscalers
from aio_apiserver.controllers.batch.cron_jobs import CronJobController
from aio_apiserver.controllers.batch.finished_jobs import FinishedJobs
from aio_apiserver.controllers.batch.jobs import JobController
from aio_apiserver.controllers.garbage_collection.garbage_collector import GarbageCollector
from aio_apiserver.controllers.namespaces.namespace_defaults import RootCertificatePublisher, ServiceAccountController
from aio_apiserver.controllers.namespaces.namespaces import NamespaceController
from aio_apiserver.controllers.namespaces.resource_quotas import ResourceQuotaController
from aio_apiserver.controllers.nodes.node_lifecycle import NodeLifecycle
from aio_apiserver.controllers.nodes.pod_garbage import PodGarbageCollector
from aio_apiserver.controllers.nodes.taint_eviction import TaintEviction
from aio_apiserver.controllers.runtime.controller import Controller
from aio_apiserver.controllers.services.endpoint_mirroring import EndpointSliceMirroring
from aio_apiserver.controllers.services.endpoints import EndpointsController, EndpointSlices
from aio_apiserver.controllers.services.service_cidrs import ServiceCIDRController
from aio_apiserver.controllers.volumes.ephemeral_volumes import EphemeralVolumes
from aio_apiserver.controllers.volumes.persistent_volumes import PersistentVolumeBinder
from aio_apiserver.controllers.volumes.resource_claims import ResourceClaimController
from aio_apiserver.controllers.volumes.volume_protection import ClaimProtection, VolumeProtection
from aio_apiserver.controllers.workloads.daemon_sets import DaemonSetController
from aio_apiserver.controllers.workloads.deployments import DeploymentController
from aio_apiserver.controllers.workloads.disruptions import DisruptionController
from aio_apiserver.controllers.workloads.replica_sets import ReplicaSetController, ReplicationControllerController
from aio_apiserver.controllers.workloads.stateful_sets import StatefulSetController

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
