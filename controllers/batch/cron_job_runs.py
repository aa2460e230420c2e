"""Cron job runs: the finished and superfluous jobs of a CronJob, its status, and its next job.

Pure.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.batch.cron import Schedule
from aio_apiserver.controllers.runtime.pods import controller_reference, seconds
from aio_apiserver.registry.base import conditions

_SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"


def is_over(job: Object) -> bool:
    return bool(end_of(job))


def end_of(job: Object) -> str:
    """The condition with which a job has ended; empty while it runs."""
    status = job.get("status") or {}
    return next((kind for kind in ("Complete", "Failed") if conditions.is_true(status, kind)), "")


def reference(job: Object) -> Object:
    """The reference to an active job in the status."""
    metadata = job["metadata"]
    return {
        "kind": "Job",
        "namespace": metadata["namespace"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "apiVersion": "batch/v1",
        "resourceVersion": metadata["resourceVersion"],
    }


def status(owner: Object, jobs: Iterable[Object]) -> Object:
    """The status with the active jobs."""
    every = list(jobs)
    result = dict(owner.get("status") or {})
    before = {one["uid"]: one for one in result.pop("active", None) or ()}
    active = [one for one in every if not is_over(one)]
    if active:
        result["active"] = [before.get(one["metadata"]["uid"]) or reference(one) for one in active]
    ends = [one["status"]["completionTime"] for one in every if (one.get("status") or {}).get("completionTime")]
    if last := max([*ends, *filter(None, [result.get("lastSuccessfulTime")])], default=""):
        result["lastSuccessfulTime"] = last
    return result


def unexpected(owner: Object, jobs: Iterable[Object]) -> list[Object]:
    """The running jobs that are not active in the status."""
    active = {one["uid"] for one in (owner.get("status") or {}).get("active") or ()}
    return [job for job in jobs if job["metadata"]["uid"] not in active and not is_over(job)]


def since(owner: Object, *, now: float) -> float:
    """The time after which scheduled times count as missed; with startingDeadlineSeconds, earlier ones are too late."""
    last = (owner.get("status") or {}).get("lastScheduleTime")
    deadline = owner["spec"].get("startingDeadlineSeconds")
    earliest = seconds(last or owner["metadata"]["creationTimestamp"])
    return earliest if deadline is None else max(earliest, now - float(deadline))


def job_of(owner: Object, time: datetime, schedule: Schedule) -> Object:
    """The job of a scheduled time. Its name depends on that time, so that it is not made twice."""
    template = owner["spec"]["jobTemplate"]
    given = template.get("metadata") or {}
    shown = time.astimezone(schedule.zone).isoformat().replace("+00:00", "Z")
    metadata = {
        "name": f"{owner['metadata']['name']}-{int(time.timestamp()) // 60}",
        "annotations": {**(given.get("annotations") or {}), _SCHEDULED: shown},
        "ownerReferences": [controller_reference(owner, "batch/v1", "CronJob")],
    }
    if given.get("labels"):
        metadata["labels"] = dict(given["labels"])
    return {"metadata": metadata, "spec": template["spec"]}


def superfluous(owner: Object, jobs: Sequence[Object]) -> list[Object]:
    """The finished jobs above the history limits."""
    gone: list[Object] = []
    for kind, name, usual in (("Complete", "successful", 3), ("Failed", "failed", 1)):
        limit = owner["spec"].get(f"{name}JobsHistoryLimit")
        done = [one for one in jobs if conditions.is_true(one.get("status") or {}, kind)]
        done.sort(key=lambda one: str((one.get("status") or {}).get("startTime", "")))
        gone += done[: max(0, len(done) - (usual if limit is None else int(limit)))]
    return gone
