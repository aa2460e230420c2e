"""Pod courses: when the containers of a simulated pod start, and what each of them does from then on.

Pure. Containers do what their command says, as `controllers/containers/courses.py` reads it. Annotations of the pod
change that. Their prefix is `simulate.aio-apiserver/`:

- `phase`: the last state of the pod.
- `delay`: the time before the pod starts, as a duration such as 3s.
- `run`: the time that containers run before they end. For pods that restart it needs `phase`, too.
- `stop`: the time that the pod takes to stop.
- `exit-code`: of containers that end; without it 1 for the phase Failed.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct

from aio_apiserver.controllers.containers.courses import ENDLESS, Course, course_of
from aio_apiserver.controllers.decisions.annotations import PREFIX, duration
from aio_apiserver.controllers.decisions.container_contents import with_fields
from aio_apiserver.controllers.decisions.container_runs import ContainerRun, run_at
from aio_apiserver.registry.plugins.simulation.annotations import POD_PHASES, is_exit_code
from aio_apiserver.storage.stored_object import Object

_HELD_PHASES = ("Pending", "ImagePullBackOff")
"""The phases in which no container starts."""
_ENDS = ("Succeeded", "Failed")
_NEVER = float("inf")


class PhaseRules(Struct, frozen=True):
    """The rules in a pod's annotations. Times are in seconds. A missing phase is empty."""

    phase: str
    delay: float
    run: float | None
    stop: float
    exit_code: int | None


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

    def run_at(self, age: float) -> ContainerRun | None:
        """Its state; None before it starts."""
        return run_at(self.course, self.policy, age - self.start) if age >= self.start else None

    @property
    def is_sidecar(self) -> bool:
        return self.is_init and self.policy == "Always"


def started(pod: Object, rules: PhaseRules) -> Sequence[StartedContainer]:
    """The containers of a pod. Init containers start one after the other, and sidecars run on."""
    spec, found = pod["spec"], []
    start = _NEVER if rules.phase in _HELD_PHASES else rules.delay
    policy = spec.get("restartPolicy", "Always")
    for container in spec.get("initContainers") or ():
        is_sidecar = container.get("restartPolicy") == "Always"
        own_policy = "Always" if is_sidecar else "Never" if policy == "Never" else "OnFailure"
        course = _init_course(with_fields(pod, container), rules, is_sidecar=is_sidecar)
        found.append(StartedContainer(container, True, start, own_policy, course))
        start += 0.0 if is_sidecar else course.seconds if course.code == 0 else _NEVER
    own_policy = "Never" if rules.phase in _ENDS else policy
    for container in spec["containers"]:
        course = _course(with_fields(pod, container), policy, rules)
        found.append(StartedContainer(container, False, start, own_policy, course))
    return found


def _init_course(container: Object, rules: PhaseRules, *, is_sidecar: bool) -> Course:
    if rules.phase:
        return ENDLESS if is_sidecar else Course(0.0, 0)
    return course_of(container) or (ENDLESS if is_sidecar else Course(0.0, 0))


def _course(container: Object, policy: str, rules: PhaseRules) -> Course:
    code = rules.exit_code
    if rules.phase in _ENDS:
        failed = 1 if code is None else code
        return Course(rules.run or 0.0, 0 if rules.phase == "Succeeded" else failed)
    if rules.phase:
        return ENDLESS
    own = course_of(container)
    if policy == "Always":
        return own or ENDLESS
    own = own or Course(0.0, 0)
    return Course(own.seconds if rules.run is None else rules.run, own.code if code is None else code)
