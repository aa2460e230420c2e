"""The scheduling.k8s.io group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import Strategy

GROUP = "scheduling.k8s.io"

KINDS = (
    Kind(
        group=GROUP,
        plural="priorityclasses",
        kind="PriorityClass",
        is_namespaced=False,
        short_names=("pc",),
        strategy=Strategy(has_generation=True),
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
