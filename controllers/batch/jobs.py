"""Jobs: runs the pods of a Job until enough have succeeded or too many have failed."""

from collections.abc import Iterable, Sequence
from functools import partial

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.batch import job_pods as jobs
from aio_apiserver.controllers.batch import job_reports
from aio_apiserver.controllers.garbage_collection import ownership
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.client import key_of, split
from aio_apiserver.controllers.runtime.controller import NotYet
from aio_apiserver.controllers.runtime.resources import JOBS, PODS
from aio_apiserver.controllers.workloads.pod_owners import PodOwner
from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.base.errors import StatusError

_OURS = ("", "kubernetes.io/job-controller")


class JobController(PodOwner):
    """Makes pods, counts them, and finishes the job."""

    name = "job-controller"
    place = JOBS
    kind = "Job"
    finalizer = jobs.TRACKING

    def begin(self) -> None:
        super().begin()
        self._uids: dict[str, set[str]] = {}
        self._dependents.listen(self._note_job)

    def _note_job(self, _key: str, _before: Object | None, after: Object | None) -> None:
        """Remember which jobs, present and former ones of the same name, have had pods."""
        if after is not None and (key := self._owner_key(after)):
            self._uids.setdefault(key, set()).add(podrules.controller_of(after)["uid"])

    async def reconcile(self, key: str) -> float | None:
        job = self.owner(key)
        await self._untrack_strays(key, job)
        if job is None or (job["spec"].get("managedBy") or "") not in _OURS:
            return None
        pods = await self.claim(job)
        now = self.desk.clock.now()
        found, end, pause = await self.work(partial(jobs.judged, job, pods, now=now), len(pods))
        if jobs.is_over(job) or job["metadata"].get("deletionTimestamp"):
            await self._untrack(pods)
            return None
        await self._untrack(found.ignored)
        active, failure = len(found.active), None
        try:
            active = await self._settle(found, end, pause)
        except StatusError as exc:  # pods that have ended are counted all the same, or their namespace would never end
            failure = exc
        await self._count(job, job_reports.status(found, end, now=self.desk.now(), active=active), pods, end)
        if failure is not None:
            raise failure
        times = [time for time in (pause, jobs.seconds_left(job, now=now) or 0.0) if time > 0]
        return min(times, default=None)

    async def _settle(self, found: jobs.Count, end: jobs.JobOutcome | None, pause: float) -> int:
        """Make or delete pods. Returns the number of active pods after it."""
        missing = jobs.missing(found) if end is None else -len(found.active)
        if missing < 0:
            is_end = end is not None or jobs.is_suspended(found.job)
            surplus = await self.work(partial(jobs.surplus, found, -missing), len(found.active))
            gone = surplus if is_end else self.first(found.job, surplus)
            await self._untrack(gone)
            await self.delete(found.job, gone)
            found.ending += len(gone) if is_end else 0
            return len(found.active) - len(gone)
        if missing > 0 and not pause:
            number = len(self.first(found.job, range(missing)))
            indexes: Sequence[int | None] = [None] * number
            if jobs.is_indexed(found.job):
                free = partial(jobs.free_indexes, found, number, now=self.desk.clock.now())
                indexes = await self.work(free, len(found.active) + len(found.done_indexes))
            await self.make(found.job, [jobs.pod_of(found.job, one, found.last_tries.get(one or 0)) for one in indexes])
            return len(found.active) + len(indexes)
        return len(found.active)

    async def _count(self, job: Object, status: Object, pods: Sequence[Object], end: jobs.JobOutcome | None) -> None:
        """Count finished pods: write their uids to the status, remove their finalizers, and then add them to the
        totals.
        """
        waiting = {uid for uids in status["uncountedTerminatedPods"].values() for uid in uids}
        if waiting or end is not None:
            await self.report(job, status)
            await self._untrack(pod for pod in pods if pod["metadata"]["uid"] in waiting)
        present = await self.client.get(JOBS, key_of(job))
        if present is None:
            return
        if (
            waiting
            and (present.get("status") or {}).get("uncountedTerminatedPods") != status["uncountedTerminatedPods"]
        ):
            raise NotYet  # another client has written the status: reconcile again
        settled = job_reports.settled(status, end, now=self.desk.now())
        await self.report(present, settled)
        self._say_news(job, settled, end)

    def _say_news(self, job: Object, status: Object, end: jobs.JobOutcome | None) -> None:
        """Write events for news in the status."""
        before = job.get("status") or {}
        was, is_now = (conditions.find(one, "Suspended") for one in (before, status))
        if is_now is not None and is_now["status"] != (was or {"status": "False"})["status"]:
            self.say(job, "Suspended" if is_now["status"] == "True" else "Resumed", is_now["message"])
        if end is None or not jobs.is_over({"status": status}):
            return
        if end.kind == "Failed":
            self.say(job, end.reason, end.message, is_warning=True)
            return
        if int(status.get("succeeded") or 0) > (job["spec"].get("completions") or int(status.get("succeeded") or 0)):
            text = "Too many succeeded pods running after completion count reached"
            self.say(job, "TooManySucceededPods", text, is_warning=True)
        self.say(job, "Completed", "Job completed")

    async def _untrack_strays(self, key: str, job: Object | None) -> None:
        """Let the pods of deleted jobs go."""
        former = self._uids.get(key, set()) - ({job["metadata"]["uid"]} if job is not None else set())
        if not former:
            return
        present = await self.client.get(JOBS, key)
        for uid in former - ({present["metadata"]["uid"]} if present is not None else set()):
            await self._untrack(list(self._dependents.controlled_by(split(key)[0], uid)))
            self._uids[key].discard(uid)
        if not self._uids[key]:
            del self._uids[key]

    async def _untrack(self, pods: Iterable[Object]) -> None:
        for pod in pods:
            if jobs.TRACKING in (pod["metadata"].get("finalizers") or ()):
                await self.client.change(PODS, pod, lambda obj: ownership.drop_finalizer(obj, jobs.TRACKING))
