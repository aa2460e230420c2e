"""Provider: the kinds of the group node.k8s.io."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.node.runtimeclasses import RUNTIMECLASSES

GROUP = "node.k8s.io"

PROVIDER = KindsProvider(group=APIGroup(name=GROUP, priority=16300), kinds=(RUNTIMECLASSES,))
