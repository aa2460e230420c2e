"""The apps group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind, Scale
from registry.strategy import StatusStrategy, Strategy

GROUP = "apps"

KINDS = (
    Kind(
        group=GROUP,
        plural="controllerrevisions",
        kind="ControllerRevision",
    ),
    Kind(
        group=GROUP,
        plural="daemonsets",
        kind="DaemonSet",
        short_names=("ds",),
        categories=("all",),
        strategy=Strategy(has_status=True, has_generation=True),
        status_strategy=StatusStrategy(),
    ),
    Kind(
        group=GROUP,
        plural="deployments",
        kind="Deployment",
        short_names=("deploy",),
        categories=("all",),
        strategy=Strategy(has_status=True, has_generation=True),
        status_strategy=StatusStrategy(),
        scale=Scale(),
    ),
    Kind(
        group=GROUP,
        plural="replicasets",
        kind="ReplicaSet",
        short_names=("rs",),
        categories=("all",),
        strategy=Strategy(has_status=True, has_generation=True),
        status_strategy=StatusStrategy(),
        scale=Scale(),
    ),
    Kind(
        group=GROUP,
        plural="statefulsets",
        kind="StatefulSet",
        short_names=("sts",),
        categories=("all",),
        strategy=Strategy(has_status=True, has_generation=True),
        status_strategy=StatusStrategy(),
        scale=Scale(),
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
