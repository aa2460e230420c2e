"""The columns of the kinds that Kubernetes brings: one table, by group and kind.

A kind that is not listed shows its name and its age; one that brings its own columns (Kind.columns) is not looked up.
"""

from collections.abc import Mapping

from registry.names import GroupKind
from registry.printing import core, jobs, nodes, pods, services, workloads
from registry.printing.columns import BY_AGE, BY_TIME, Columns

_GROUPS: Mapping[str, Mapping[str, Columns]] = {
    "": {
        "ConfigMap": core.CONFIG_MAPS,
        "Endpoints": services.ENDPOINTS,
        "Event": core.EVENTS,
        "LimitRange": BY_TIME,
        "Namespace": core.NAMESPACES,
        "Node": nodes.NODES,
        "Pod": pods.PODS,
        "PodTemplate": core.POD_TEMPLATES,
        "ReplicationController": workloads.REPLICATION_CONTROLLERS,
        "ResourceQuota": core.RESOURCE_QUOTAS,
        "Secret": core.SECRETS,
        "Service": services.SERVICES,
    },
    "apps": {
        "ControllerRevision": workloads.CONTROLLER_REVISIONS,
        "DaemonSet": workloads.DAEMON_SETS,
        "Deployment": workloads.DEPLOYMENTS,
        "ReplicaSet": workloads.REPLICA_SETS,
        "StatefulSet": workloads.STATEFUL_SETS,
    },
    "autoscaling": {"Scale": workloads.SCALES},
    "batch": {"CronJob": jobs.CRON_JOBS, "Job": jobs.JOBS},
    "discovery.k8s.io": {"EndpointSlice": services.ENDPOINT_SLICES},
    "events.k8s.io": {"Event": core.EVENTS},
    "rbac.authorization.k8s.io": {"ClusterRole": BY_TIME, "Role": BY_TIME},
    "storage.k8s.io": {"CSIStorageCapacity": BY_TIME},
}


def columns_of(kind: GroupKind) -> Columns:
    """How tables show a kind."""
    return _GROUPS.get(kind.group, {}).get(kind.kind, BY_AGE)
