"""Provider: the kinds of the group policy."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.policy.poddisruptionbudgets import PODDISRUPTIONBUDGETS

GROUP = "policy"

PROVIDER = KindsProvider(group=APIGroup(name=GROUP, priority=17100), kinds=(PODDISRUPTIONBUDGETS,))
