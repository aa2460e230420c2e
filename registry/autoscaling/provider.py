"""The autoscaling group: its kinds."""

from registry.autoscaling.horizontalpodautoscalers import HORIZONTALPODAUTOSCALERS
from registry.generic.provider import KindsProvider

GROUP = "autoscaling"

PROVIDER = KindsProvider(group=GROUP, versions=("v2", "v1"), kinds=(HORIZONTALPODAUTOSCALERS,))
