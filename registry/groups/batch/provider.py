"""Provider: the kinds of the group batch."""

from aio_apiserver.registry.generic.group import APIGroup
from aio_apiserver.registry.generic.store.provider import KindsProvider
from aio_apiserver.registry.groups.batch.cronjobs import CRONJOBS
from aio_apiserver.registry.groups.batch.jobs import JOBS

GROUP = "batch"

KINDS = (
    CRONJOBS,
    JOBS,
)

PROVIDER = KindsProvider(group=APIGroup(name=GROUP, priority=17400), kinds=KINDS)
