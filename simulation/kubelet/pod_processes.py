"""pod_processes: starts and ends the local processes of pods for a simulated kubelet, and keeps account of their runs.

Must hold: the end of a process queues its pod. Without --simulate-local-processes there are none.
"""

from collections.abc import Callable

from msgspec.structs import replace

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.simulation.kubelet import process_runs
from aio_apiserver.simulation.kubelet.pod_courses import StartedContainer
from aio_apiserver.simulation.kubelet.pod_phases import Life
from aio_apiserver.simulation.kubelet.process_runs import NOT_CREATED_CODE, ProcessRun, Runs
from aio_apiserver.simulation.processes.local_containers import LocalContainers, OnEnd
from aio_apiserver.simulation.processes.runtime_words import NotCreated

_USUAL_GRACE = 30


class PodProcesses:
    """The processes of all pods of a kubelet. notify: queues a pod by its key."""

    def __init__(self, local: LocalContainers | None, clock: Clock, notify: Callable[[str], None]) -> None:
        self._local = local
        self._clock = clock
        self._notify = notify
        self._runs: dict[str, dict[str, ProcessRun]] = {}
        """The newest run of each container, by the uid of its pod and by name."""
        self._uids: dict[str, str] = {}
        """The uids by the keys of pods."""

    @property
    def are_simulated(self) -> bool:
        """Whether no command of a pod is a local process."""
        return self._local is None

    async def close(self) -> None:
        """End all processes."""
        if self._local is not None:
            await self._local.end_all()

    def runs(self, pod: Object, age: float) -> Runs | None:
        """The runs of a pod of this age; None where every container is simulated."""
        if self._local is None:
            return None
        uid = pod["metadata"]["uid"]
        if uid not in self._runs:
            self._runs[uid] = dict(process_runs.shown_in(pod.get("status") or {}, age))
            self._uids[key_of(pod)] = uid
        return dict(self._runs[uid])

    async def start(self, life: Life) -> Life:
        """Start the processes that are due. Returns the same life with them."""
        while due := life.due:
            for one in due:
                await self._start(life, one)
            life = replace(life, processes=self.runs(life.pod, life.age))
        return life

    async def _start(self, life: Life, one: StartedContainer) -> None:
        assert self._local is not None
        pod, name = life.pod, one.container["name"]
        runs = self._runs[pod["metadata"]["uid"]]
        run = one.process.after(life.age) if one.process is not None else ProcessRun(0, life.age)
        try:
            await self._local.start(pod, one.container, run.number, self._on_end(pod, name, run))
            runs[name] = run
        except NotCreated as exc:
            runs[name] = replace(run, ended=run.began, code=NOT_CREATED_CODE, failure=str(exc))

    def _on_end(self, pod: Object, container: str, run: ProcessRun) -> OnEnd:
        """What follows the end of a process."""
        uid, key, began = pod["metadata"]["uid"], key_of(pod), self._clock.monotonic()

        def note(code: int) -> None:
            if uid in self._runs:
                ended = run.began + self._clock.monotonic() - began
                self._runs[uid][container] = replace(run, ended=ended, code=code, failure="")
                self._notify(key)

        return note

    def is_running(self, pod: Object) -> bool:
        """Whether a process of the pod runs."""
        return self._local is not None and self._local.is_running(pod["metadata"]["uid"])

    def stop(self, pod: Object, grace: float | None = None) -> None:
        """End the processes of a pod, after the grace period of its spec or a shorter one."""
        if self._local is not None:
            usual = float(pod["spec"].get("terminationGracePeriodSeconds", _USUAL_GRACE))
            self._local.stop(pod["metadata"]["uid"], usual if grace is None else grace)

    def forget(self, key: str, present: Object | None) -> None:
        """End the processes of a pod that has gone, although another one may have its key now."""
        uid = self._uids.get(key, "")
        if uid and self._local is not None and (present is None or present["metadata"]["uid"] != uid):
            del self._uids[key], self._runs[uid]
            self._local.forget(uid)
