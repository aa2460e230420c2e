"""Provider: the kinds of the group autoscaling."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.autoscaling.horizontalpodautoscalers import HORIZONTALPODAUTOSCALERS

GROUP = "autoscaling"

PROVIDER = KindsProvider(
    group=APIGroup(name=GROUP, priority=17500, versions={"v2": 30, "v1": 15}), kinds=(HORIZONTALPODAUTOSCALERS,)
)
