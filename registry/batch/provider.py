"""The batch group: its kinds."""

from registry.batch.cronjobs import CRONJOBS
from registry.batch.jobs import JOBS
from registry.generic.provider import KindsProvider

GROUP = "batch"

KINDS = (
    CRONJOBS,
    JOBS,
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
