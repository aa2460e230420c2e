"""Provider: the kinds of the group scheduling.k8s.io."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.scheduling.priorityclasses import PRIORITYCLASSES

GROUP = "scheduling.k8s.io"

KINDS = (PRIORITYCLASSES,)

PROVIDER = KindsProvider(group=APIGroup(name=GROUP, priority=16600), kinds=KINDS)
