"""The flowcontrol.apiserver.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy

GROUP = "flowcontrol.apiserver.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="flowschemas",
        kind="FlowSchema",
        is_namespaced=False,
        strategy=Strategy(has_status=True, has_generation=True),
        status_strategy=StatusStrategy(),
    ),
    Kind(
        group=GROUP,
        plural="prioritylevelconfigurations",
        kind="PriorityLevelConfiguration",
        is_namespaced=False,
        strategy=Strategy(has_status=True, has_generation=True),
        status_strategy=StatusStrategy(),
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
