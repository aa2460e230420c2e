"""exec_prober: carries out the exec probes of simulated pods for their kubelet, and ends containers that fail them.

A command without a simulation has passed, and so has one whose container has too many files. Must hold: a pod without
exec probes costs one look at its spec.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from aio_apiserver.base import budget
from aio_apiserver.base.budget import BudgetExceeded
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import seconds
from aio_apiserver.simulation.containers import answers, courses
from aio_apiserver.simulation.containers.answers import NotSimulated, ProgramAnswer
from aio_apiserver.simulation.kubelet import container_runs, exec_probes, pod_courses, pod_events, pod_stops
from aio_apiserver.simulation.kubelet.container_runs import RUNNING, ContainerRun
from aio_apiserver.simulation.kubelet.container_worlds import ContainerWorlds, status_of
from aio_apiserver.simulation.kubelet.exec_probes import ExecProbe, ProbedRun
from aio_apiserver.simulation.kubelet.pod_courses import StartedContainer
from aio_apiserver.simulation.kubelet.pod_events import PodEvent
from aio_apiserver.simulation.kubelet.pod_phases import Life
from aio_apiserver.simulation.kubelet.process_runs import ProcessRun
from aio_apiserver.simulation.model.container_contents import with_fields

_USUAL_GRACE = 30
_PASSED = ProgramAnswer(0, "")
Say = Callable[[Object, Sequence[PodEvent]], None]


class ExecProber:
    """The exec probes of all pods of a kubelet."""

    def __init__(self, worlds: ContainerWorlds, clock: Clock, say: Say) -> None:
        self._worlds = worlds
        self._clock = clock
        self._say = say
        self._runs: dict[str, dict[str, ProbedRun]] = {}
        """The newest run of each container with probes, by the uid of its pod and by name."""

    async def probe(self, life: Life) -> Life:
        """Carry out the probes that are due. Returns the same life with their results."""
        if life.rules.phase or not exec_probes.are_in(life.pod):
            return life
        runs = self._runs_of(life)
        while True:
            life = replace(life, probed=dict(runs))
            found = next(filter(None, (self._due(life, one) for one in life.containers)), None)
            if found is None:
                return life
            one, run, probe = found
            runs[one.container["name"]] = await self._carried_out(life, one, run, probe)

    def forget(self, uid: str) -> None:
        """Forget a pod that is gone."""
        self._runs.pop(uid, None)

    def _runs_of(self, life: Life) -> dict[str, ProbedRun]:
        uid = life.pod["metadata"]["uid"]
        if uid not in self._runs:
            spec = life.pod["spec"]
            every = (*(spec.get("initContainers") or ()), *spec["containers"])
            self._runs[uid] = {one["name"]: self._first_seen(life, one) for one in every if exec_probes.of(one)}
        return self._runs[uid]

    def _first_seen(self, life: Life, container: Object) -> ProbedRun:
        shown = status_of(life.pod, container["name"])
        state, last = shown.get("state") or {}, shown.get("lastState") or {}
        times = state.get("running") or state.get("terminated") or last.get("terminated") or {}
        began, ended = (self._age_at(life, times, member) for member in ("startedAt", "finishedAt"))
        return exec_probes.first_seen(container, shown, began, ended)

    def _age_at(self, life: Life, times: Mapping[str, Any], member: str) -> float:
        """The age of a pod at a time of its status."""
        return life.age - (self._clock.now() - seconds(times[member])) if times.get(member) else 0.0

    def _due(self, life: Life, one: StartedContainer) -> tuple[StartedContainer, ContainerRun, ExecProbe] | None:
        """A probe of a running container that has to be carried out now."""
        run = one.run_at(life.age) if one.probed is not None and not life.is_over else None
        verdict = one.verdict(run) if run is not None and run.state == RUNNING else None
        probe = verdict.due(life.age) if verdict is not None else None
        return (one, run, probe) if run is not None and probe is not None else None

    async def _carried_out(self, life: Life, one: StartedContainer, run: ContainerRun, probe: ExecProbe) -> ProbedRun:
        """The container with the result of a probe. When the probe has failed too often, its run has ended."""
        verdict, began = one.verdict(run), one.start + run.began
        assert verdict is not None
        answer = await self._answer(life, one.container, run.restarts, began, probe)
        result = verdict.after(probe, life.age, has_passed=answer.code == 0)
        if answer.code != 0:
            self._say(life.pod, [pod_events.unhealthy(one.container, probe, answer, is_init=one.is_init)])
        if not result.failed:
            return result
        grace = (
            life.pod["spec"].get("terminationGracePeriodSeconds", _USUAL_GRACE) if probe.grace is None else probe.grace
        )
        stop = await budget.within(
            pod_courses.JUDGED,
            lambda account: pod_stops.of_container(life.pod, one.container, grace, account),
            life.pod["metadata"]["namespace"],
        )
        again = container_runs.restarts(one.policy, stop.code)
        self._say(life.pod, [pod_events.killing(one.container, probe, is_init=one.is_init, again=again)])
        return result.ended(ProcessRun(run.restarts, began, life.age + stop.seconds, stop.code))

    async def _answer(
        self, life: Life, container: Object, number: int, began: float, probe: ExecProbe
    ) -> ProgramAnswer:
        started = self._clock.now() - (life.age - began)
        command = courses.expanded(probe.command, courses.env_of(with_fields(life.pod, container)))
        try:
            shell = await self._worlds.probing_shell(life.pod, container, number, started)
            return await answers.of_command(shell, command, probe.timeout, self._worlds.share_of(life.pod))
        except (NotSimulated, BudgetExceeded):
            return _PASSED
