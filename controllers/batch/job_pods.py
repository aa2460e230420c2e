"""Job pods: the finished pods of a Job, the pods to make, and whether the job has to end.

Pure. Each finished pod is counted once: its uid is in `uncountedTerminatedPods` until its finalizer is removed.

Must hold: no pod counts twice. An end that was reported once stays.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.batch import indexes, job_indexes, job_policies
from aio_apiserver.controllers.batch.indexes import Indexes
from aio_apiserver.controllers.batch.job_indexes import INDEX, index_of
from aio_apiserver.controllers.runtime import pods
from aio_apiserver.registry.base import conditions

TRACKING = "batch.kubernetes.io/job-tracking"
_BACKOFF_SECONDS = 10.0
_LONGEST_BACKOFF_SECONDS = 600.0
_FAILED_TEXT = "Job has reached the specified backoff limit"
_DONE_TEXT = "Reached expected number of succeeded pods"
_INDEXES_TEXT = "Job has failed indexes"
_TOO_MANY_INDEXES_TEXT = "Job has exceeded the specified maximal number of failed indexes"
_LATE_TEXT = "Job was active longer than specified deadline"


def is_over(job: Object) -> bool:
    """Whether the job has ended."""
    status = job.get("status") or {}
    return conditions.is_true(status, "Complete") or conditions.is_true(status, "Failed")


def is_indexed(job: Object) -> bool:
    return bool(job["spec"].get("completionMode") == "Indexed")


class Count(Struct):
    """The pods of a job, sorted."""

    job: Object
    active: list[Object] = field(default_factory=list)
    ending: int = 0
    succeeded: list[Object] = field(default_factory=list)
    """The pods to count now."""
    failed: list[Object] = field(default_factory=list)
    ignored: list[Object] = field(default_factory=list)
    """The failed pods that the failure policy ignores."""
    why_failed: str = ""
    """The message when one pod fails the job."""
    failed_indexes: Indexes = field(default_factory=Indexes)
    last_tries: Mapping[int, Object] = field(default_factory=dict)
    """The newest failed pods by index."""

    @property
    def status(self) -> Object:
        found: Object = self.job.get("status") or {}
        return found

    @property
    def waiting(self) -> dict[str, list[str]]:
        """The uids of pods that are not in the totals, including the new ones."""
        before = self.status.get("uncountedTerminatedPods") or {}
        new = {"succeeded": self.succeeded, "failed": self.failed}
        return {name: [*before.get(name, ()), *(pod["metadata"]["uid"] for pod in new[name])] for name in new}

    @property
    def successes(self) -> int:
        if is_indexed(self.job):
            return len(self.done_indexes)
        return int(self.status.get("succeeded") or 0) + len(self.waiting["succeeded"])

    @property
    def failures(self) -> int:
        return int(self.status.get("failed") or 0) + len(self.waiting["failed"])

    @property
    def done_indexes(self) -> Indexes:
        now = indexes.of(one for pod in self.succeeded if (one := index_of(pod)) is not None)
        before = indexes.parse(self.status.get("completedIndexes", ""))
        return before.with_all(now).below(self.job["spec"].get("completions") or 0)


def count(job: Object, owned: Iterable[Object]) -> Count:
    """Sort the pods of a job."""
    found = Count(job)
    known = found.status.get("uncountedTerminatedPods") or {}
    counted = {*known.get("succeeded", ()), *known.get("failed", ())}
    every = list(owned)
    found.why_failed = job_policies.failure(job, every)
    for pod in every:
        is_tracked = TRACKING in (pod["metadata"].get("finalizers") or ())
        is_new = is_tracked and pod["metadata"]["uid"] not in counted
        if pods.is_active(pod):
            found.active.append(pod)
        elif pods.phase(pod) == "Succeeded":
            found.succeeded += [pod] if is_new else []
        elif job_policies.is_ignored(job, pod):
            found.ignored.append(pod)
        elif pods.is_finished(pod) or _counts_as_failed(job):
            found.failed += [pod] if is_new else []
        if pods.is_ending(pod) and not pods.is_finished(pod):
            found.ending += 1
    found.failed_indexes = job_indexes.failed(job, [*found.failed, *found.ignored])
    found.last_tries = job_indexes.last_tries(every)
    return found


class Judged(NamedTuple):
    """The result of one reconciliation. pause: the seconds before new pods may be made."""

    found: Count
    end: "JobOutcome | None"
    pause: float


def judged(job: Object, owned: Sequence[Object], *, now: float) -> Judged:
    """The result for a job with these pods."""
    found = count(job, owned)
    return Judged(found, outcome(found, now=now), pause(found, owned, now=now))


def _counts_as_failed(job: Object) -> bool:
    """Whether a terminating pod counts as failed already."""
    return bool(job["spec"].get("podReplacementPolicy") != "Failed")


class JobOutcome(Struct, frozen=True):
    """The end of a job."""

    kind: str
    reason: str
    message: str

    @property
    def target(self) -> str:
        return "SuccessCriteriaMet" if self.kind == "Complete" else "FailureTarget"


def outcome(found: Count, *, now: float) -> JobOutcome | None:
    """The end of a job; None while it goes on. An earlier report wins."""
    job, status = found.job, found.status
    for kind, target in (("Complete", "SuccessCriteriaMet"), ("Failed", "FailureTarget")):
        condition = conditions.find(status, target)
        if condition is not None and condition["status"] == "True":
            return JobOutcome(kind, condition.get("reason", ""), condition.get("message", ""))
    if found.why_failed:
        return JobOutcome("Failed", "PodFailurePolicy", found.why_failed)
    if found.failures > _backoff_limit(job) or _restarts_too_often(found):
        return JobOutcome("Failed", "BackoffLimitExceeded", _FAILED_TEXT)
    left = seconds_left(job, now=now)
    if left is not None and left <= 0:
        return JobOutcome("Failed", "DeadlineExceeded", _LATE_TEXT)
    if found.failed_indexes and (failure := _failure_of_indexes(found)) is not None:
        return failure
    if enough := job_policies.success(job, found.done_indexes):
        return JobOutcome("Complete", "SuccessPolicy", enough)
    return JobOutcome("Complete", "CompletionsReached", _DONE_TEXT) if _is_done(found) else None


def _failure_of_indexes(found: Count) -> JobOutcome | None:
    """The end of a job with failed indexes: at once above maxFailedIndexes, else when all indexes are finished."""
    spec, number = found.job["spec"], len(found.failed_indexes)
    if spec.get("maxFailedIndexes") is not None and number > int(spec["maxFailedIndexes"]):
        return JobOutcome("Failed", "MaxFailedIndexesExceeded", _TOO_MANY_INDEXES_TEXT)
    if number + found.successes >= int(spec["completions"]):
        return JobOutcome("Failed", "FailedIndexes", _INDEXES_TEXT)
    return None


def _is_done(found: Count) -> bool:
    completions = found.job["spec"].get("completions")
    if completions is None:
        return found.successes > 0 and not found.active
    return bool(found.successes >= completions)


def _backoff_limit(job: Object) -> int:
    limit = job["spec"].get("backoffLimit")
    return 6 if limit is None else int(limit)


def _restarts_too_often(found: Count) -> bool:
    if found.job["spec"]["template"]["spec"].get("restartPolicy") != "OnFailure":
        return False
    restarts = sum(
        int(one.get("restartCount") or 0)
        for pod in found.active
        for one in (pod.get("status") or {}).get("containerStatuses") or ()
    )
    limit = _backoff_limit(found.job)
    return restarts >= limit if limit else restarts > 0


def is_suspended(job: Object) -> bool:
    return job["spec"].get("suspend") is True


def seconds_left(job: Object, *, now: float) -> float | None:
    """The seconds until the activeDeadlineSeconds are over."""
    deadline, start = job["spec"].get("activeDeadlineSeconds"), (job.get("status") or {}).get("startTime")
    if deadline is None or start is None or is_suspended(job):
        return None
    return pods.seconds(start) + float(deadline) - now


def pause(found: Count, owned: Iterable[Object], *, now: float) -> float:
    """The backoff before new pods, after failures. With limits for each index, it is the shortest one of the open
    indexes.
    """
    if job_indexes.are_independent(found.job):
        shortest = None
        for index in _open_indexes(found):
            wait = job_indexes.pause(found.last_tries.get(index), now=now)
            if not wait:
                return 0.0
            shortest = wait if shortest is None else min(shortest, wait)
        return shortest or 0.0
    failed = [pod for pod in owned if pods.phase(pod) == "Failed"]
    times = [time for pod in failed for time in job_indexes.ends(pod)]
    if not found.failures or not times:
        return 0.0
    wait = min(_BACKOFF_SECONDS * 2.0 ** min(found.failures - 1, 16), _LONGEST_BACKOFF_SECONDS)
    return max(0.0, max(times) + wait - now)


def missing(found: Count) -> int:
    """The number of pods to make; negative for pods to delete."""
    job = found.job
    parallelism = job["spec"].get("parallelism")
    most = 1 if parallelism is None else int(parallelism)
    if is_suspended(job):
        return -len(found.active)
    completions = job["spec"].get("completions")
    if completions is not None:
        wanted = min(most, max(0, int(completions) - found.successes - len(found.failed_indexes)))
    else:
        wanted = len(found.active) if found.successes else most
        wanted = min(wanted, most)
    there = len(found.active) + (found.ending if job["spec"].get("podReplacementPolicy") == "Failed" else 0)
    return wanted - there if wanted > there else min(0, wanted - len(found.active))


def free_indexes(found: Count, number: int, *, now: float) -> list[int]:
    """The open indexes without an active pod and without a backoff."""
    first = list(islice(_open_indexes(found), number))
    if not job_indexes.are_independent(found.job):
        return first
    return [index for index in first if not job_indexes.pause(found.last_tries.get(index), now=now)]


def _open_indexes(found: Count) -> Iterator[int]:
    at_work = indexes.of(one for one in map(index_of, found.active) if one is not None)
    taken = found.done_indexes.with_all(found.failed_indexes).with_all(at_work)
    return taken.others_below(found.job["spec"].get("completions") or 0)


def pod_of(job: Object, index: int | None, before: Object | None = None) -> Object:
    """A new pod; with an index, `before` is its last failed pod."""
    pod = pods.from_template(job["spec"]["template"], job, "batch/v1", "Job")
    metadata = pod["metadata"]
    metadata["finalizers"] = [*metadata.get("finalizers", ()), TRACKING]
    if index is None:
        return pod
    noted = job_indexes.annotations(job, before)
    metadata["annotations"] = {**metadata.get("annotations", {}), INDEX: str(index), **noted}
    metadata["labels"] = {**metadata.get("labels", {}), INDEX: str(index)}
    metadata["generateName"] = f"{job['metadata']['name']}-{index}-"
    spec = pod["spec"]
    spec.setdefault("hostname", f"{job['metadata']['name']}-{index}")
    source = {"valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}}
    for name in ("initContainers", "containers"):
        if spec.get(name):
            spec[name] = [_with_index(one, source) for one in spec[name]]
    return pod


def _with_index(container: Object, source: Object) -> Object:
    given = container.get("env") or []
    if any(one["name"] == "JOB_COMPLETION_INDEX" for one in given):
        return container
    return {**container, "env": [*given, {"name": "JOB_COMPLETION_INDEX", **source}]}


def surplus(found: Count, number: int) -> Sequence[Object]:
    """The pods to delete, in kube-controller-manager's order."""
    return sorted(found.active, key=pods.deletion_rank)[:number]
