"""The columns of the kinds that Kubernetes brings: one table, by group and kind.

A kind that is not listed shows its name and its age; one that brings its own columns (Kind.columns) is not looked up.
"""

from collections.abc import Mapping

from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.machinery.printing import (
    access,
    autoscaling,
    cluster,
    core,
    jobs,
    networking,
    nodes,
    pods,
    policies,
    services,
    volumes,
    workloads,
)
from aio_apiserver.registry.machinery.printing.columns import BY_AGE, BY_TIME, Columns

_GROUPS: Mapping[str, Mapping[str, Columns]] = {
    "": {
        "ComponentStatus": core.COMPONENT_STATUSES,
        "ConfigMap": core.CONFIG_MAPS,
        "Endpoints": services.ENDPOINTS,
        "Event": core.EVENTS,
        "LimitRange": BY_TIME,
        "Namespace": core.NAMESPACES,
        "Node": nodes.NODES,
        "PersistentVolume": volumes.PERSISTENT_VOLUMES,
        "PersistentVolumeClaim": volumes.PERSISTENT_VOLUME_CLAIMS,
        "Pod": pods.PODS,
        "PodTemplate": core.POD_TEMPLATES,
        "ReplicationController": workloads.REPLICATION_CONTROLLERS,
        "ResourceQuota": core.RESOURCE_QUOTAS,
        "Secret": core.SECRETS,
        "Service": services.SERVICES,
    },
    "admissionregistration.k8s.io": {
        "MutatingAdmissionPolicy": policies.MUTATING_ADMISSION_POLICIES,
        "MutatingAdmissionPolicyBinding": policies.ADMISSION_POLICY_BINDINGS,
        "MutatingWebhookConfiguration": policies.WEBHOOK_CONFIGURATIONS,
        "ValidatingAdmissionPolicy": policies.VALIDATING_ADMISSION_POLICIES,
        "ValidatingAdmissionPolicyBinding": policies.ADMISSION_POLICY_BINDINGS,
        "ValidatingWebhookConfiguration": policies.WEBHOOK_CONFIGURATIONS,
    },
    "apiextensions.k8s.io": {"CustomResourceDefinition": BY_TIME},
    "apiregistration.k8s.io": {"APIService": cluster.API_SERVICES},
    "apps": {
        "ControllerRevision": workloads.CONTROLLER_REVISIONS,
        "DaemonSet": workloads.DAEMON_SETS,
        "Deployment": workloads.DEPLOYMENTS,
        "ReplicaSet": workloads.REPLICA_SETS,
        "StatefulSet": workloads.STATEFUL_SETS,
    },
    "autoscaling": {
        "HorizontalPodAutoscaler": autoscaling.HORIZONTAL_POD_AUTOSCALERS,
        "Scale": workloads.SCALES,
    },
    "batch": {"CronJob": jobs.CRON_JOBS, "Job": jobs.JOBS},
    "certificates.k8s.io": {"CertificateSigningRequest": access.CERTIFICATE_SIGNING_REQUESTS},
    "coordination.k8s.io": {"Lease": cluster.LEASES},
    "discovery.k8s.io": {"EndpointSlice": services.ENDPOINT_SLICES},
    "events.k8s.io": {"Event": core.EVENTS},
    "flowcontrol.apiserver.k8s.io": {
        "FlowSchema": policies.FLOW_SCHEMAS,
        "PriorityLevelConfiguration": policies.PRIORITY_LEVELS,
    },
    "networking.k8s.io": {
        "Ingress": networking.INGRESSES,
        "IngressClass": networking.INGRESS_CLASSES,
        "IPAddress": networking.IP_ADDRESSES,
        "NetworkPolicy": networking.NETWORK_POLICIES,
        "ServiceCIDR": networking.SERVICE_CIDRS,
    },
    "node.k8s.io": {"RuntimeClass": cluster.RUNTIME_CLASSES},
    "policy": {"PodDisruptionBudget": policies.POD_DISRUPTION_BUDGETS},
    "rbac.authorization.k8s.io": {
        "ClusterRole": BY_TIME,
        "ClusterRoleBinding": access.CLUSTER_ROLE_BINDINGS,
        "Role": BY_TIME,
        "RoleBinding": access.ROLE_BINDINGS,
    },
    "resource.k8s.io": {"ResourceClaim": cluster.RESOURCE_CLAIMS, "ResourceSlice": cluster.RESOURCE_SLICES},
    "scheduling.k8s.io": {"PriorityClass": cluster.PRIORITY_CLASSES},
    "storage.k8s.io": {
        "CSIDriver": volumes.CSI_DRIVERS,
        "CSINode": volumes.CSI_NODES,
        "CSIStorageCapacity": BY_TIME,
        "StorageClass": volumes.STORAGE_CLASSES,
        "VolumeAttachment": volumes.VOLUME_ATTACHMENTS,
        "VolumeAttributesClass": volumes.VOLUME_ATTRIBUTES_CLASSES,
    },
}


def columns_of(kind: GroupKind) -> Columns:
    """How tables show a kind."""
    return _GROUPS.get(kind.group, {}).get(kind.kind, BY_AGE)
