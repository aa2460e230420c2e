"""The apps group: its kinds."""

from registry.apps.daemonsets import DAEMONSETS
from registry.apps.deployments import DEPLOYMENTS
from registry.apps.replicasets import REPLICASETS
from registry.apps.statefulsets import STATEFULSETS
from registry.generic.provider import KindsProvider
from registry.kind import Kind

GROUP = "apps"

KINDS = (
    Kind(
        group=GROUP,
        plural="controllerrevisions",
        kind="ControllerRevision",
    ),
    DAEMONSETS,
    DEPLOYMENTS,
    REPLICASETS,
    STATEFULSETS,
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
