"""Cron jobs: makes a job at each scheduled time of a CronJob."""

from datetime import UTC, datetime

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.batch import cron
from aio_apiserver.controllers.batch import cron_job_runs as rules
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.pods import is_ending
from aio_apiserver.controllers.runtime.resources import CRON_JOBS, JOBS
from aio_apiserver.controllers.workloads.pod_owners import PodOwner
from aio_apiserver.registry.base.errors import AlreadyExists, StatusError

_TOO_MANY = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"


class CronJobController(PodOwner):
    """Makes jobs. It does not adopt jobs that it has not made."""

    name = "cronjob-controller"
    place = CRON_JOBS
    kind = "CronJob"
    dependents = JOBS

    def selector(self, owner: Object) -> None:
        return None

    async def reconcile(self, key: str) -> float | None:
        owner = self.owner(key)
        if owner is None:
            return None
        jobs = self.controlled(owner)
        self._say_ended(owner, jobs)
        await self._say_unexpected(owner, jobs)
        await self.report(owner, rules.status(owner, jobs))
        for job in rules.superfluous(owner, jobs):
            await self._remove(owner, job)
        if is_ending(owner) or owner["spec"].get("suspend"):
            return None
        schedule = cron.parse(owner["spec"]["schedule"], owner["spec"].get("timeZone"))
        now = datetime.fromtimestamp(self.desk.clock.now(), UTC)
        since = rules.since(owner, now=now.timestamp())
        time = cron.due(schedule, datetime.fromtimestamp(since, UTC), now)
        if time is not None:
            if cron.has_missed_many(schedule, datetime.fromtimestamp(since, UTC), now):
                self.say(owner, "TooManyMissedTimes", _TOO_MANY, is_warning=True)
            await self._start(owner, jobs, rules.job_of(owner, time, schedule), time)
        following = schedule.next(now)
        return (following - now).total_seconds() if following is not None else None

    async def _start(self, owner: Object, jobs: list[Object], wanted: Object, time: datetime) -> None:
        active = [job for job in jobs if not rules.is_over(job)]
        policy = owner["spec"].get("concurrencyPolicy", "Allow")
        if policy == "Forbid" and active:
            text = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self.say(owner, "JobAlreadyActive", text)
            return
        for job in active if policy == "Replace" else ():
            await self._remove(owner, job)
        kept = [] if policy == "Replace" else jobs
        try:
            made = await self.client.create(JOBS, wanted, namespace=owner["metadata"]["namespace"])
            self.say(owner, "SuccessfulCreate", f"Created job {made['metadata']['name']}")
        except AlreadyExists:
            made = None
        except StatusError as exc:
            self.say(owner, "FailedCreate", f"Error creating job: {exc}", is_warning=True)
            raise
        shown = time.strftime("%Y-%m-%dT%H:%M:%SZ")
        present = await self.client.get(CRON_JOBS, key_of(owner))
        if present is not None:
            status = rules.status(present, [*kept, *([made] if made is not None else [])])
            await self.report(present, {**status, "lastScheduleTime": shown})

    async def _remove(self, owner: Object, job: Object) -> None:
        if await self.client.delete(JOBS, job, policy="Background"):
            self.say(owner, "SuccessfulDelete", f"Deleted job {job['metadata']['name']}")

    def _say_ended(self, owner: Object, jobs: list[Object]) -> None:
        """Write events for jobs that have ended or gone, and are still active in the status."""
        active = {one["uid"] for one in (owner.get("status") or {}).get("active") or ()}
        for job in jobs:
            if job["metadata"]["uid"] in active and (how := rules.end_of(job)):
                self.say(owner, "SawCompletedJob", f"Saw completed job: {job['metadata']['name']}, condition: {how}")
        present = {job["metadata"]["uid"] for job in jobs}
        for one in (owner.get("status") or {}).get("active") or ():
            if one["uid"] not in present:
                self.say(owner, "MissingJob", f"Active job went missing: {one['name']}")

    async def _say_unexpected(self, owner: Object, jobs: list[Object]) -> None:
        """Write events for running jobs that the status does not name, such as those that a user has made."""
        found = rules.unexpected(owner, jobs)
        newest = await self.client.get(CRON_JOBS, key_of(owner)) if found else None
        for job in rules.unexpected(newest, found) if newest is not None else ():
            text = f"Saw a job that the controller did not create or forgot: {job['metadata']['name']}"
            self.say(owner, "UnexpectedJob", text, is_warning=True)
