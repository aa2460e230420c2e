"""The one list of controllers, by name; kube-controller-manager's names for the same work."""

from collections.abc import Mapping

from apiserver.controllers.cluster_roles import ClusterRoleAggregation
from apiserver.controllers.controller import Controller
from apiserver.controllers.cron_jobs import CronJobController
from apiserver.controllers.daemon_sets import DaemonSetController
from apiserver.controllers.deployments import DeploymentController
from apiserver.controllers.disruptions import DisruptionController
from apiserver.controllers.endpoints import EndpointsController, EndpointSlices
from apiserver.controllers.finished_jobs import FinishedJobs
from apiserver.controllers.garbage_collector import GarbageCollector
from apiserver.controllers.jobs import JobController
from apiserver.controllers.namespace_contents import RootCertificatePublisher, ServiceAccountController
from apiserver.controllers.namespaces import NamespaceController
from apiserver.controllers.pod_garbage import PodGarbageCollector
from apiserver.controllers.replica_sets import ReplicaSetController, ReplicationControllerController
from apiserver.controllers.resource_quotas import ResourceQuotaController
from apiserver.controllers.stateful_sets import StatefulSetController

CONTROLLERS: Mapping[str, type[Controller]] = {
    one.name: one
    for one in (
        ClusterRoleAggregation,
        CronJobController,
        DaemonSetController,
        DeploymentController,
        DisruptionController,
        EndpointSlices,
        EndpointsController,
        FinishedJobs,
        GarbageCollector,
        JobController,
        NamespaceController,
        PodGarbageCollector,
        ReplicaSetController,
        ReplicationControllerController,
        ResourceQuotaController,
        RootCertificatePublisher,
        ServiceAccountController,
        StatefulSetController,
    )
}
