"""Pod phases: the status of a simulated pod over time, by its containers and the rules in its annotations.

Pure. `pod_courses.py` has the rules.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.groups.core.pods import pod_conditions
from aio_apiserver.simulation.kubelet import ephemeral_containers
from aio_apiserver.simulation.kubelet.container_runs import RUNNING, TERMINATED, WAITING, ContainerRun
from aio_apiserver.simulation.kubelet.container_statuses import Shown
from aio_apiserver.simulation.kubelet.exec_probes import ProbedRun
from aio_apiserver.simulation.kubelet.pod_courses import (
    UNKNOWN,
    Courses,
    PhaseRules,
    StartedContainer,
    rules_of,
    started,
)
from aio_apiserver.simulation.kubelet.pod_stops import KILLED
from aio_apiserver.simulation.kubelet.process_runs import Runs

_ENDS = ("Succeeded", "Failed")
_DEADLINE = "Pod was active on the node longer than the specified deadline"


class Life(Struct, frozen=True, dict=True):
    """A pod on a node, `age` seconds after the kubelet first saw it."""

    pod: Object
    age: float
    now: str
    host: str
    """The address of the node."""
    address: str
    """The address for the pod."""
    processes: Runs | None = None
    """The runs of local processes; None where every container is simulated."""
    probed: Mapping[str, ProbedRun] = {}
    """The containers with exec probes, by name."""
    courses: Courses = UNKNOWN

    @cached_property
    def rules(self) -> PhaseRules:
        return rules_of(self.pod)

    @cached_property
    def containers(self) -> Sequence[StartedContainer]:
        return started(self.pod, self.rules, self.courses, self.processes, self.probed)

    @cached_property
    def deadline(self) -> float:
        """The age at which the kubelet kills the pod."""
        return float(self.pod["spec"].get("activeDeadlineSeconds") or "inf")

    @property
    def is_over(self) -> bool:
        """Whether the pod has succeeded or failed."""
        return self._phase(self._runs()) in _ENDS

    @property
    def due(self) -> Sequence[StartedContainer]:
        """The containers whose processes have to be started now."""
        return [one for one in self.containers if one.is_due(self.age)] if self._is_up and not self.is_over else ()

    @property
    def next_look(self) -> float | None:
        """The seconds until the status changes by time; None when it does not."""
        if self.is_over:
            return None
        turns = [self.rules.delay, self.deadline]
        for one in self.containers:
            run = one.run_at(self.age)
            turns += [one.start] if run is None else [one.start + (run.until or 0.0), one.ready_at(run)]
            verdict = one.verdict(run) if run is not None and run.state == RUNNING else None
            turns += [verdict.next_due] if verdict is not None else ()
        if (rest := ephemeral_containers.next_end(self.pod, self.now, self.courses)) is not None:
            turns.append(self.age + rest)
        return min((turn - self.age for turn in turns if self.age < turn < float("inf")), default=None)

    def status(self) -> Object:
        """The present status of the pod."""
        runs, before = self._runs(), self.pod.get("status") or {}
        phase = self._phase(runs)
        status: Object = {**before, "phase": phase, "hostIP": self.host}
        if self.age >= self.deadline:
            status.update({"reason": "DeadlineExceeded", "message": _DEADLINE})
        status["hostIPs"] = [{"ip": self.host}]
        status.setdefault("startTime", self.now)
        if self._is_up:
            status["podIP"] = before.get("podIP") or self.address
            status["podIPs"] = [{"ip": status["podIP"]}]
        status["conditions"] = [dict(one) for one in before.get("conditions") or ()]
        self._report_conditions(status, phase, runs)
        self._report_containers(status, runs)
        ephemeral = ephemeral_containers.statuses(self.pod, self.now, self.courses) if phase == "Running" else ()
        if ephemeral:
            status[ephemeral_containers.STATUSES] = ephemeral
        return status

    @property
    def _is_up(self) -> bool:
        """Whether the pod has a network, so that its containers can start."""
        return self.age >= self.rules.delay and self.rules.phase not in ("Pending", "ImagePullBackOff")

    def _runs(self) -> Sequence[ContainerRun | None]:
        """The states of all containers; None for those that have not started."""
        runs = [one.run_at(self.age) for one in self.containers]
        if self.age >= self.deadline:
            return [run and ContainerRun(TERMINATED, run.restarts, run.began, None) for run in runs]
        if self.rules.phase != "CrashLoopBackOff" or not self._is_up:
            return runs
        crashed = ContainerRun(WAITING, 1, 0.0, None)
        return [run if one.is_init else crashed for one, run in zip(self.containers, runs, strict=True)]

    def _phase(self, runs: Sequence[ContainerRun | None]) -> str:
        if self.age >= self.deadline:
            return "Failed"
        pairs = list(zip(self.containers, runs, strict=True))
        init = _outcomes((one, run) for one, run in pairs if one.is_init and not one.is_sidecar)
        main = _outcomes((one, run) for one, run in pairs if not one.is_init)
        if "Failed" in init:
            return "Failed"
        if not init <= {"Succeeded"} or "Pending" in main:
            return "Pending"
        return next((phase for phase in ("Running", "Failed") if phase in main), "Succeeded")

    def _report_conditions(self, status: Object, phase: str, runs: Sequence[ContainerRun | None]) -> None:
        why = {"Succeeded": "PodCompleted", "Failed": "PodFailed"}.get(phase, "ContainersNotReady")
        is_over = phase in _ENDS
        is_ready = self._are_ready(runs) and not is_over
        gates = [gate["conditionType"] for gate in self.pod["spec"].get("readinessGates") or ()]
        passed = {one["type"] for one in status["conditions"] if one.get("status") == "True"}
        is_initialized = phase != "Pending" or not self.pod["spec"].get("initContainers")
        result: tuple[tuple[str, bool, dict[str, str]], ...] = (
            ("PodReadyToStartContainers", self._is_up and not is_over, {}),
            ("Initialized", is_initialized, {} if phase != "Pending" else {"reason": "ContainersNotInitialized"}),
            ("Ready", is_ready and passed.issuperset(gates), {"reason": why}),
            ("ContainersReady", is_ready, {"reason": why}),
            ("PodScheduled", True, {}),
        )
        for kind, is_true, reason in result:
            condition: dict[str, Any] = {"type": kind, "status": "True" if is_true else "False"}
            pod_conditions.put(status, condition if is_true else {**condition, **reason}, now=self.now)

    def _are_ready(self, runs: Iterable[ContainerRun | None]) -> bool:
        states = zip(self.containers, runs, strict=True)
        return all(self._is_ready(one, run) for one, run in states if one.is_sidecar or not one.is_init)

    def _is_ready(self, one: StartedContainer, run: ContainerRun | None) -> bool:
        if run is None or run.state != RUNNING or self.rules.phase == "NotReady":
            return False
        verdict = one.verdict(run)
        return self.age >= one.ready_at(run) and (verdict is None or verdict.is_ready)

    def _report_containers(self, status: Object, runs: Sequence[ContainerRun | None]) -> None:
        for name, is_init in (("containerStatuses", False), ("initContainerStatuses", True)):
            before = {one["name"]: one for one in status.get(name) or ()}
            shown = [
                self._container_status(one, run, before).status()
                for one, run in zip(self.containers, runs, strict=True)
                if one.is_init == is_init
            ]
            if shown:
                status[name] = shown

    def _container_status(self, one: StartedContainer, run: ContainerRun | None, before: dict[str, Object]) -> Shown:
        code, waits = one.code(run), "PodInitializing" if self._is_up else "ContainerCreating"
        reason = one.reason(run)
        if self.age >= self.deadline:
            code, reason = KILLED, ""
        elif self.rules.phase == "CrashLoopBackOff" and not one.is_init:
            code = 1 if self.rules.exit_code is None else self.rules.exit_code
        elif self.rules.phase == "ImagePullBackOff" and self.age >= self.rules.delay:
            waits = self.rules.phase
        was = before.get(one.container["name"]) or {}
        uid, is_ready = self.pod["metadata"]["uid"], self._is_ready(one, run)
        verdict = one.verdict(run) if run is not None else None
        has_started = verdict is None or verdict.has_started
        return Shown(
            one.container, uid, self.now, was, run, code, waits, one.is_init, is_ready, has_started, one.failure, reason
        )


def _outcomes(pairs: Iterable[tuple[StartedContainer, ContainerRun | None]]) -> set[str]:
    """The phases that containers would have as pods of their own."""
    return {_outcome(one, run) for one, run in pairs}


def _outcome(one: StartedContainer, run: ContainerRun | None) -> str:
    if run is None:
        return "Pending"
    if run.state != TERMINATED:
        return "Running"
    return "Failed" if one.code(run) else "Succeeded"
