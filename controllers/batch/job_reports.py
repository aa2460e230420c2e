"""Job reports: the status of a Job, before and after its finished pods are counted.

Pure. Must hold: totals do not decrease. A job first reports that it will fail or succeed, and ends when all its pods
are gone.
"""

from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.batch import indexes, job_indexes
from aio_apiserver.controllers.batch import job_pods as jobs
from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.groups.core.pods.pod_conditions import is_ready


def status(found: jobs.Count, end: jobs.JobOutcome | None, *, now: str, active: int) -> Object:
    """The status before counting, with new finished pods in `uncountedTerminatedPods`."""
    result = dict(found.status)
    result["conditions"] = [dict(one) for one in result.get("conditions") or ()]
    waiting = {name: uids for name, uids in found.waiting.items() if uids}
    result["uncountedTerminatedPods"] = waiting
    ready = sum(1 for pod in found.active if is_ready(pod)) if active else 0
    result.update({"active": active, "ready": ready, "terminating": found.ending})
    if not active:
        del result["active"]
    if jobs.is_indexed(found.job):
        result["completedIndexes"] = str(found.done_indexes)
    if job_indexes.are_independent(found.job):
        result["failedIndexes"] = str(found.failed_indexes)
    _report_suspension(result, found.job, now=now)
    if end is not None:
        _put(result, end.target, end, now=now)
    return result


def _report_suspension(result: Object, job: Object, *, now: str) -> None:
    if jobs.is_suspended(job):
        result.pop("startTime", None)
        conditions.report(
            result, "Suspended", "True", now=now, reason="JobSuspended", message="Job suspended", lastProbeTime=now
        )
        return
    result.setdefault("startTime", now)
    if conditions.is_true(result, "Suspended"):
        conditions.report(
            result, "Suspended", "False", now=now, reason="JobResumed", message="Job resumed", lastProbeTime=now
        )


def _put(result: Object, kind: str, end: jobs.JobOutcome, *, now: str) -> None:
    conditions.report(result, kind, "True", now=now, reason=end.reason, message=end.message, lastProbeTime=now)


def settled(status: Object, end: jobs.JobOutcome | None, *, now: str) -> Object:
    """The status after the finalizers are removed: uncounted pods are in the totals. Without active pods the end is
    final.
    """
    result: Object = {**status, "conditions": [dict(one) for one in status.get("conditions") or ()]}
    waiting: dict[str, Any] = result.pop("uncountedTerminatedPods", None) or {}
    result["uncountedTerminatedPods"] = {}
    for name in ("succeeded", "failed"):
        total = int(result.get(name) or 0) + len(waiting.get(name, ()))
        if name == "succeeded" and "completedIndexes" in result:
            total = len(indexes.parse(result["completedIndexes"]))
        if total:
            result[name] = total
    if end is not None and not result.get("active") and not result.get("terminating"):
        _put(result, end.kind, end, now=now)
        if end.kind == "Complete":
            result["completionTime"] = now
    return result
