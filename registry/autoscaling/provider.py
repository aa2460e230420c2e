"""The autoscaling group: its kinds."""

from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy

GROUP = "autoscaling"

KINDS = (
    Kind(
        group=GROUP,
        plural="horizontalpodautoscalers",
        kind="HorizontalPodAutoscaler",
        versions=("v2", "v1"),
        short_names=("hpa",),
        categories=("all",),
        strategy=Strategy(has_status=True),
        status_strategy=StatusStrategy(),
    ),
)

PROVIDER = KindsProvider(group=GROUP, versions=("v2", "v1"), kinds=KINDS)
