"""Finished jobs: deletes finished jobs after their ttlSecondsAfterFinished."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller
from aio_apiserver.controllers.runtime.pods import is_ending, seconds
from aio_apiserver.controllers.runtime.resources import JOBS
from aio_apiserver.registry.base import conditions


class FinishedJobs(Controller):
    """Deletes jobs and their pods."""

    name = "ttl-after-finished-controller"

    def begin(self) -> None:
        self._jobs = self.follow(JOBS, key_of)

    async def reconcile(self, key: str) -> float | None:
        job = await self.client.get(JOBS, key) if self._jobs.get(key) is not None else None
        left = seconds_left(job, now=self.desk.clock.now()) if job is not None else None
        if job is None or left is None or left > 0:
            return left
        await self.client.delete(JOBS, job, policy="Foreground", is_unchanged=True)
        return None


def seconds_left(job: Object, *, now: float) -> float | None:
    """The seconds until a job is deleted; None for an unfinished job, or one without a TTL."""
    ttl = job["spec"].get("ttlSecondsAfterFinished")
    status = job.get("status") or {}
    ends = [conditions.find(status, kind) for kind in ("Complete", "Failed")]
    finished = [one for one in ends if one is not None and one["status"] == "True"]
    if ttl is None or not finished or is_ending(job):
        return None
    return max(0.0, seconds(finished[0]["lastTransitionTime"]) + float(ttl) - now)
