"""Finished jobs: deletes finished jobs after their ttlSecondsAfterFinished."""

from aio_apiserver.controllers.batch.job_expiry import seconds_left
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller
from aio_apiserver.controllers.runtime.resources import JOBS


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
