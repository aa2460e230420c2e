"""Names: the names of controllers, and the syntax of --controllers: `*` for all, `name` to add, `-name` to remove.

The names are kube-controller-manager's. Pure, and imported by every server.
"""

from collections.abc import Iterable, Sequence

ALL = (
    "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-cleaner-controller",
    "certificatesigningrequest-signing-controller",
    "clusterrole-aggregation-controller",
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "endpoints-controller",
    "endpointslice-controller",
    "endpointslice-mirroring-controller",
    "ephemeral-volume-controller",
    "garbage-collector-controller",
    "horizontalpodautoscaler-controller",
    "job-controller",
    "namespace-controller",
    "node-lifecycle-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "replicationcontroller-controller",
    "resourceclaim-controller",
    "resourcequota-controller",
    "root-ca-certificate-publisher-controller",
    "service-cidr-controller",
    "serviceaccount-controller",
    "statefulset-controller",
    "taint-eviction-controller",
    "ttl-after-finished-controller",
)
EVERYTHING = "*"
SYNCS = {
    "cronjob-controller": "concurrent_cron_job_syncs",
    "daemonset-controller": "concurrent_daemonset_syncs",
    "deployment-controller": "concurrent_deployment_syncs",
    "endpoints-controller": "concurrent_endpoint_syncs",
    "endpointslice-controller": "concurrent_service_endpoint_syncs",
    "garbage-collector-controller": "concurrent_gc_syncs",
    "job-controller": "concurrent_job_syncs",
    "namespace-controller": "concurrent_namespace_syncs",
    "replicaset-controller": "concurrent_replicaset_syncs",
    "replicationcontroller-controller": "concurrent_rc_syncs",
    "resourcequota-controller": "concurrent_resource_quota_syncs",
    "statefulset-controller": "concurrent_statefulset_syncs",
    "ttl-after-finished-controller": "concurrent_ttl_after_finished_syncs",
}
"""The settings with the number of workers of a controller."""


def unknown(given: Iterable[str]) -> Sequence[str]:
    """The unknown names in the flag."""
    known = {EVERYTHING, *ALL}
    return [name for name in given if name.removeprefix("-") not in known]


def enabled(given: Sequence[str]) -> Sequence[str]:
    """The enabled controllers. An entry with a controller's name wins over `*`, and the first such entry wins."""
    return [name for name in ALL if _is_enabled(name, given)]


def _is_enabled(name: str, given: Sequence[str]) -> bool:
    for stated in given:
        if stated.removeprefix("-") == name:
            return stated == name
    return EVERYTHING in given
