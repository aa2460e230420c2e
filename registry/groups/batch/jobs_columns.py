"""jobs_columns: the columns of a Job: its state, its completions and its duration."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.printing import ages, formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of

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


COLUMNS = table_of(
    NAME,
    (Column(name="Status", text="Status of the job."), _status),
    (Column(name="Completions", field="batch.v1.JobStatus.succeeded"), _completions),
    (Column(name="Duration", text="Time required to complete the job."), _duration),
    AGE,
    *formats.containers("spec.template"),
    (_SELECTOR, formats.selector("spec.selector")),
)
