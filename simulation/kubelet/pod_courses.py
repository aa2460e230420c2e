"""Pod courses: when the containers of a simulated pod start, and what each of them does from then on.

Pure. Containers do what their command says, as `simulation/containers/courses.py` reads it. Annotations of the pod
change that. Their prefix is `simulate.aio-apiserver/`:

- `phase`: the last state of the pod.
- `delay`: the time before the pod starts, as a duration such as 3s.
- `run`: the time that containers run before they end. For pods that restart it needs `phase`, too.
- `stop`: the time that the pod takes to stop.
- `exit-code`: of containers that end; without it 1 for the phase Failed.

Probes that run a command are those of `exec_probes.py`. With other probes a container is ready after the
`initialDelaySeconds` of its readiness probe. With the annotation `phase` there are no probes.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

from msgspec import Struct

from aio_apiserver.base.budget import Budget, BudgetLimits
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.plugins.simulation.annotations import POD_PHASES, is_exit_code
from aio_apiserver.simulation.containers.courses import ENDLESS, NO_FILES, Course, PresentFiles, course_of
from aio_apiserver.simulation.kubelet import process_runs
from aio_apiserver.simulation.kubelet.container_runs import RUNNING, ContainerRun, run_at, success_at
from aio_apiserver.simulation.kubelet.exec_probes import ProbedRun
from aio_apiserver.simulation.kubelet.process_runs import ProcessRun, Runs
from aio_apiserver.simulation.kubelet.shared_volumes import SharedVolumes
from aio_apiserver.simulation.model.annotations import PREFIX, duration
from aio_apiserver.simulation.model.container_contents import containers_of, with_fields

_HELD_PHASES = ("Pending", "ImagePullBackOff")
"""The phases in which no container starts."""
_ENDS = ("Succeeded", "Failed")
_NEVER = float("inf")
_UNPROBED: Mapping[str, ProbedRun] = {}
JUDGED = BudgetLimits(steps=2_000_000, bytes_made=32 * 1024 * 1024)
"""What it may cost to judge all programs of a pod."""
Courses = Mapping[str, Course | None]
"""What the command of each container of a pod does, by name; None when that is unknown."""
UNKNOWN: Courses = {}


class PhaseRules(Struct, frozen=True):
    """The rules in a pod's annotations. Times are in seconds. A missing phase is empty."""

    phase: str
    delay: float
    run: float | None
    stop: float
    exit_code: int | None

    @property
    def simulates(self) -> bool:
        """Whether they say what the containers do, so that no process runs."""
        return bool(self.phase) or self.run is not None or self.exit_code is not None


def rules_of(pod: Object) -> PhaseRules:
    """The rules of a pod. Invalid annotations count as missing."""
    annotations = pod["metadata"].get("annotations") or {}
    delay, run, stop = (annotations.get(PREFIX + name, "") for name in ("delay", "run", "stop"))
    phase, code = (annotations.get(PREFIX + name, "") for name in ("phase", "exit-code"))
    return PhaseRules(
        phase if phase in POD_PHASES else "",
        duration(delay),
        duration(run) if run else None,
        duration(stop),
        int(code) if is_exit_code(code) else None,
    )


class StartedContainer(NamedTuple):
    """A container that starts `start` seconds after its pod was first seen."""

    container: Object
    is_init: bool
    start: float
    policy: str
    course: Course
    warm_up: float = 0.0
    """The seconds that it runs before it is ready."""
    is_process: bool = False
    """Whether its command is a local process. Then `course` shows the newest run, `process`."""
    process: ProcessRun | None = None
    probed: ProbedRun | None = None
    """Its exec probes, which can end a run."""

    def run_at(self, age: float) -> ContainerRun | None:
        """Its state; None before it starts."""
        if self.is_process:
            return self.process.state(self.policy, self.start) if self.process is not None else None
        if self.probed is not None and self.probed.known is not None:
            return self.probed.known.state_at(age, self.course, self.policy, self.start)
        return run_at(self.course, self.policy, age - self.start) if age >= self.start else None

    def as_process(self, run: ProcessRun | None) -> Self:
        """The same container with a local process."""
        if run is None:
            return self._replace(is_process=True, process=None, course=ENDLESS)
        seconds = _NEVER if run.ended is None else run.ended - self.start
        return self._replace(is_process=True, process=run, course=Course(seconds, run.code))

    def is_due(self, age: float) -> bool:
        """Whether its process has to be started now."""
        if not self.is_process or self.process is None:
            return self.is_process and age >= self.start
        again = self.process.again_at(self.policy)
        return again is not None and age >= again

    @property
    def next_start(self) -> float:
        """The age of the pod at which the next init container starts."""
        if self.is_sidecar:
            probed = self.probed.start if self.probed is not None else None
            return self.start if probed is None else probed
        return self.start + success_at(self.course, self.policy)

    @property
    def failure(self) -> str:
        """Why its process could not start."""
        return self.process.failure if self.process is not None else ""

    def code(self, run: ContainerRun | None) -> int:
        """The exit code of the last run that has ended."""
        if run is None:
            return self.course.code
        last = run.restarts - 1 if run.state == RUNNING else run.restarts
        code = self.course.at(last).code
        return code if self.probed is None else self.probed.codes.get(last, code)

    def reason(self, run: ContainerRun | None) -> str:
        """Why the last run that has ended was killed; empty when it was not, and when a probe has ended it."""
        if run is None:
            return self.course.reason
        last = run.restarts - 1 if run.state == RUNNING else run.restarts
        is_own = self.probed is None or last not in self.probed.codes
        return self.course.at(last).reason if is_own else ""

    def verdict(self, run: ContainerRun) -> ProbedRun | None:
        """What its exec probes have found in this run; None without such probes."""
        if self.probed is None or self.probed.number == run.restarts:
            return self.probed
        return self.probed.begun(run.restarts, self.start + run.began)

    def ready_at(self, run: ContainerRun) -> float:
        """The age of the pod at which this run gets ready."""
        return self.start + run.began + self.warm_up

    @property
    def is_sidecar(self) -> bool:
        return self.is_init and self.policy == "Always"


def runs_locally(pod: Object, container: Object) -> bool:
    """Whether a container's command is a process where --simulate-local-processes is set."""
    is_ephemeral = container in (pod["spec"].get("ephemeralContainers") or ())
    is_started = process_runs.names_program(container) and not container.get("stdin")
    return is_started and not rules_of(pod).simulates and not is_ephemeral


def started(
    pod: Object,
    rules: PhaseRules,
    courses: Courses,
    runs: Runs | None = None,
    probed: Mapping[str, ProbedRun] = _UNPROBED,
) -> Sequence[StartedContainer]:
    """The containers of a pod. Init containers start one after the other, and sidecars run on.

    runs: those of local processes; None where every container is simulated. probed: the containers with exec probes.
    """
    spec = pod["spec"]
    containers: list[StartedContainer] = []
    start = _NEVER if rules.phase in _HELD_PHASES else rules.delay
    policy = spec.get("restartPolicy", "Always")
    for container in spec.get("initContainers") or ():
        is_sidecar = container.get("restartPolicy") == "Always"
        own_policy = container.get("restartPolicy") or ("Never" if policy == "Never" else "OnFailure")
        course = _init_course(courses.get(container["name"]), rules, is_sidecar=is_sidecar)
        simulated = StartedContainer(container, True, start, own_policy, course, _warm_up(container, rules))
        containers.append(_in_place(simulated, rules, runs, probed))
        start = containers[-1].next_start
    for container in spec["containers"]:
        restarts = container.get("restartPolicy") or policy
        own_policy = "Never" if rules.phase in _ENDS else restarts
        course = _course(courses.get(container["name"]), restarts, rules)
        simulated = StartedContainer(container, False, start, own_policy, course, _warm_up(container, rules))
        containers.append(_in_place(simulated, rules, runs, probed))
    return containers


def _in_place(
    simulated: StartedContainer, rules: PhaseRules, runs: Runs | None, probed: Mapping[str, ProbedRun]
) -> StartedContainer:
    """The container with its process or its exec probes, where it has them.

    A container with `stdin` gets its process from `kubectl attach`.
    """
    if runs is None or rules.simulates or not process_runs.names_program(simulated.container):
        return simulated._replace(probed=probed.get(simulated.container["name"])) if probed else simulated
    if simulated.container.get("stdin"):
        return simulated._replace(course=ENDLESS)
    return simulated.as_process(runs.get(simulated.container["name"]))


def _warm_up(container: Object, rules: PhaseRules) -> float:
    return 0.0 if rules.phase else float((container.get("readinessProbe") or {}).get("initialDelaySeconds") or 0)


def of_pod(pod: Object, budget: Budget, present_files: PresentFiles = NO_FILES) -> Courses:
    """What the commands of a pod's containers do. Raises BudgetExceeded."""
    volumes = SharedVolumes(pod)
    return {one["name"]: _own_course(pod, one, volumes, budget, present_files) for one in containers_of(pod)}


def own_course(pod: Object, container: Object, budget: Budget, present_files: PresentFiles = NO_FILES) -> Course | None:
    """What the command of one container does; None when that is unknown. Raises BudgetExceeded."""
    return _own_course(pod, container, SharedVolumes(pod), budget, present_files)


def _own_course(
    pod: Object, container: Object, volumes: SharedVolumes, budget: Budget, present_files: PresentFiles
) -> Course | None:
    """It finds what init containers have written into its volumes, and what other pods had left there."""
    shared = volumes.paths(container)
    before = volumes.written_before(container) if shared else ()
    programs = [(with_fields(pod, one), volumes.paths(one)) for one in before]
    return course_of(with_fields(pod, container), budget, shared, programs, present_files)


def _init_course(own: Course | None, rules: PhaseRules, *, is_sidecar: bool) -> Course:
    if rules.phase:
        return ENDLESS if is_sidecar else Course(0.0, 0)
    return own or (ENDLESS if is_sidecar else Course(0.0, 0))


def _course(own: Course | None, policy: str, rules: PhaseRules) -> Course:
    if rules.phase:
        return _of_phase(rules)
    if policy == "Always":
        return own or ENDLESS
    own, code = own or Course(0.0, 0), rules.exit_code
    if rules.run is None and code is None:
        return own
    return Course(own.seconds if rules.run is None else rules.run, own.code if code is None else code)


def _of_phase(rules: PhaseRules) -> Course:
    if rules.phase not in _ENDS:
        return ENDLESS
    failed = 1 if rules.exit_code is None else rules.exit_code
    return Course(rules.run or 0.0, 0 if rules.phase == "Succeeded" else failed)
