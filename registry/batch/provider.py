"""The batch group: its kinds."""

from registry.fields import count
from registry.generic.provider import KindsProvider
from registry.kind import Kind
from registry.strategy import GarbageCollection, StatusStrategy, Strategy

GROUP = "batch"

KINDS = (
    Kind(
        group=GROUP,
        plural="cronjobs",
        kind="CronJob",
        short_names=("cj",),
        categories=("all",),
        strategy=Strategy(has_status=True, has_generation=True),
        status_strategy=StatusStrategy(),
    ),
    Kind(
        group=GROUP,
        plural="jobs",
        kind="Job",
        categories=("all",),
        strategy=Strategy(has_status=True, has_generation=True, garbage_collection=GarbageCollection.ORPHAN_DEPENDENTS),
        status_strategy=StatusStrategy(),
        fields={"status.successful": count("status.succeeded")},
        unknown_field_message="field label {quoted} not supported for Job",
    ),
)

PROVIDER = KindsProvider(group=GROUP, kinds=KINDS)
