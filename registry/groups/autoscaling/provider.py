"""The autoscaling group: its kinds."""

from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.autoscaling.horizontalpodautoscalers import HORIZONTALPODAUTOSCALERS

GROUP = "autoscaling"

PROVIDER = KindsProvider(group=GROUP, versions=("v2", "v1"), kinds=(HORIZONTALPODAUTOSCALERS,))
