"""Job reports: the status of a Job, before and after its finished pods are counted.

Pure. Must hold: totals do not decrease. A job first reports that it will fail or succeed, and ends when all its pods
are gone.
"""

from typing import Any

from aio_apiserver.controllers.decisions import indexes, job_indexes, jobs
from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.groups.core.pod_conditions import is_ready
from aio_apiserver.storage.stored_object import Object


def status(found: jobs.Count, end: jobs.JobOutcome | None, *, now: str, active: int) -> Object:
    """The status before counting, with new finished pods in `uncountedTerminatedPods`."""
    told = dict(found.status)
    told["conditions"] = [dict(one) for one in told.get("conditions") or ()]
    waiting = {name: uids for name, uids in found.waiting.items() if uids}
    told["uncountedTerminatedPods"] = waiting
    ready = sum(1 for pod in found.active if is_ready(pod)) if active else 0
    told.update({"active": active, "ready": ready, "terminating": found.ending})
    if not active:
        del told["active"]
    if jobs.is_indexed(found.job):
        told["completedIndexes"] = indexes.text(found.done_indexes)
    if job_indexes.are_independent(found.job):
        told["failedIndexes"] = indexes.text(found.failed_indexes)
    _tell_suspension(told, found.job, now=now)
    if end is not None:
        _put(told, end.target, end, now=now)
    return told


def _tell_suspension(told: Object, job: Object, *, now: str) -> None:
    if jobs.is_suspended(job):
        told.pop("startTime", None)
        conditions.report(
            told, "Suspended", "True", now=now, reason="JobSuspended", message="Job suspended", lastProbeTime=now
        )
        return
    told.setdefault("startTime", now)
    if conditions.is_true(told, "Suspended"):
        conditions.report(
            told, "Suspended", "False", now=now, reason="JobResumed", message="Job resumed", lastProbeTime=now
        )


def _put(told: Object, kind: str, end: jobs.JobOutcome, *, now: str) -> None:
    conditions.report(told, kind, "True", now=now, reason=end.reason, message=end.message, lastProbeTime=now)


def settled(status: Object, end: jobs.JobOutcome | None, *, now: str) -> Object:
    """The status after the finalizers are removed: uncounted pods are in the totals. Without active pods the end is
    final.
    """
    told: Object = {**status, "conditions": [dict(one) for one in status.get("conditions") or ()]}
    waiting: dict[str, Any] = told.pop("uncountedTerminatedPods", None) or {}
    told["uncountedTerminatedPods"] = {}
    for name in ("succeeded", "failed"):
        total = int(told.get(name) or 0) + len(waiting.get(name, ()))
        if name == "succeeded" and "completedIndexes" in told:
            total = len(indexes.parse(told["completedIndexes"]))
        if total:
            told[name] = total
    if end is not None and not told.get("active") and not told.get("terminating"):
        _put(told, end.kind, end, now=now)
        if end.kind == "Complete":
            told["completionTime"] = now
    return told
