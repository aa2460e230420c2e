"""Jobs and cron jobs: how far they are, and when they run."""

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import ages, formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, count, table_of, text, value
from aio_apiserver.registry.machinery.printing.formats import NONE, UNSET
from aio_apiserver.storage.stored_object import Object

_SELECTOR = Column(name="Selector", field="batch.v1.JobSpec.selector", priority=1)


def _status(job: Object, _now: float) -> str:
    ended = next((word for word in ("Complete", "Failed") if formats.is_true(job, word)), "")
    if ended or job["metadata"].get("deletionTimestamp"):
        return ended or "Terminating"
    words = ("Suspended", "FailureTarget", "SuccessCriteriaMet")
    return next((word for word in words if formats.is_true(job, word)), "Running")


def _completions(job: Object, _now: float) -> str:
    succeeded = objects.get(job, "status.succeeded", 0)
    completions = objects.get(job, "spec.completions")
    if completions is not None:
        return f"{succeeded}/{completions}"
    parallelism = objects.get(job, "spec.parallelism", 0)
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _duration(job: Object, now: float) -> str:
    started, completed = objects.get(job, "status.startTime"), objects.get(job, "status.completionTime")
    if not started:
        return ""
    return ages.duration((ages.seconds_of(completed) if completed else now) - ages.seconds_of(started))


JOBS = table_of(
    NAME,
    (Column(name="Status", text="Status of the job."), _status),
    (Column(name="Completions", field="batch.v1.JobStatus.succeeded"), _completions),
    (Column(name="Duration", text="Time required to complete the job."), _duration),
    AGE,
    *formats.containers("spec.template"),
    (_SELECTOR, formats.selector("spec.selector")),
)


def _suspended(job: Object, _now: float) -> str:
    suspend = objects.get(job, "spec.suspend")
    return UNSET if suspend is None else str(suspend)


def _last_schedule(job: Object, now: float) -> str:
    last = objects.get(job, "status.lastScheduleTime")
    return ages.since(last, now) if last else NONE


CRON_JOBS = table_of(
    NAME,
    (Column(name="Schedule", field="batch.v1.CronJobSpec.schedule"), value("spec.schedule")),
    (Column(name="Timezone", field="batch.v1.CronJobSpec.timeZone"), text("spec.timeZone", NONE)),
    (Column(name="Suspend", type="boolean", field="batch.v1.CronJobSpec.suspend"), _suspended),
    (Column(name="Active", type="integer", field="batch.v1.CronJobStatus.active"), count("status.active")),
    (Column(name="Last Schedule", field="batch.v1.CronJobStatus.lastScheduleTime"), _last_schedule),
    AGE,
    *formats.containers("spec.jobTemplate.spec.template"),
    (_SELECTOR, formats.selector("spec.jobTemplate.spec.selector")),
)
