"""The batch group: its kinds."""

from aio_apiserver.registry.batch.cronjobs import CRONJOBS
from aio_apiserver.registry.batch.jobs import JOBS
from aio_apiserver.registry.generic.provider import KindsProvider

GROUP = "batch"

KINDS = (
    CRONJOBS,
    JOBS,
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
