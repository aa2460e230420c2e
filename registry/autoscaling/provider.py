"""The autoscaling group: its kinds."""

from aio_apiserver.registry.autoscaling.horizontalpodautoscalers import HORIZONTALPODAUTOSCALERS
from aio_apiserver.registry.generic.provider import KindsProvider

GROUP = "autoscaling"

PROVIDER = KindsProvider(group=GROUP, versions=("v2", "v1"), kinds=(HORIZONTALPODAUTOSCALERS,))
