"""Cron jobs: a job whenever it is time."""

from datetime import UTC, datetime

from apiserver.controllers.client import key_of
from apiserver.controllers.places import CRON_JOBS, JOBS
from apiserver.controllers.pod_owners import PodOwner
from registry.controllers import cron
from registry.controllers import cron_jobs as rules
from registry.controllers.pods import is_ending
from registry.errors import AlreadyExists
from storage.stored_object import Object


class CronJobController(PodOwner):
    """Makes jobs; it takes in none that somebody else has made."""

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
        await self.report(owner, rules.status(owner, jobs))
        for job in rules.superfluous(owner, jobs):
            await self.client.delete(JOBS, job, policy="Background")
        if is_ending(owner) or owner["spec"].get("suspend"):
            return None
        schedule = cron.parse(owner["spec"]["schedule"], owner["spec"].get("timeZone"))
        now = datetime.fromtimestamp(self.desk.clock.now(), UTC)
        time = cron.due(schedule, datetime.fromtimestamp(rules.since(owner), UTC), now)
        if time is not None and not rules.is_too_late(owner, time, now=now.timestamp()):
            await self._start(owner, jobs, rules.job_of(owner, time, schedule), time)
        following = schedule.next(now)
        return (following - now).total_seconds() if following is not None else None

    async def _start(self, owner: Object, jobs: list[Object], wanted: Object, time: datetime) -> None:
        active = [job for job in jobs if not rules.is_over(job)]
        policy = owner["spec"].get("concurrencyPolicy", "Allow")
        if policy == "Forbid" and active:
            return
        for job in active if policy == "Replace" else ():
            await self.client.delete(JOBS, job, policy="Background")
        kept = [] if policy == "Replace" else jobs
        try:
            made = await self.client.create(JOBS, wanted, namespace=owner["metadata"]["namespace"])
        except AlreadyExists:
            made = None
        shown = time.strftime("%Y-%m-%dT%H:%M:%SZ")
        present = await self.client.get(CRON_JOBS, key_of(owner))
        if present is not None:
            status = rules.status(present, [*kept, *([made] if made is not None else [])])
            await self.report(present, {**status, "lastScheduleTime": shown})
