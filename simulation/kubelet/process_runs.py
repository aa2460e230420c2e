"""process_runs: the newest run of a container whose command is a local process, and when the next run begins.

Pure. Times are seconds of the pod's age. The pauses between runs are those of simulated containers.
"""

from collections.abc import Mapping

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.containers import courses
from aio_apiserver.simulation.containers.courses import Course
from aio_apiserver.simulation.kubelet import container_runs
from aio_apiserver.simulation.kubelet.container_runs import RUNNING, TERMINATED, WAITING, ContainerRun

START_ERROR, NOT_CREATED_CODE = "StartError", 128
_LOST_CODE = 255
"""The code of processes that have ended with an earlier server, as containerd has it after a restart of the node."""


class ProcessRun(Struct, frozen=True):
    """A run. number: of the restarts before it. `code` and `failure` are those of the last run that has ended.

    failure: why the command could not start.
    """

    number: int
    began: float
    ended: float | None = None
    code: int = 0
    failure: str = ""

    def after(self, now: float) -> "ProcessRun":
        """The next run, which begins now."""
        return ProcessRun(self.number + 1, now, None, self.code, self.failure)

    def again_at(self, policy: str) -> float | None:
        """When the container is started again."""
        if self.ended is None or not container_runs.restarts(policy, self.code):
            return None
        return self.ended + container_runs.pause_after(Course(self.ended - self.began, self.code), self.number)

    def state(self, policy: str, since: float) -> ContainerRun:
        """The state of the container. Times of the result count from `since`."""
        if self.ended is None:
            return ContainerRun(RUNNING, self.number, self.began - since, None)
        again = self.again_at(policy)
        if again is None:
            return ContainerRun(TERMINATED, self.number, self.ended - since, None)
        return ContainerRun(WAITING, self.number, self.ended - since, again - since)

    def state_at(self, age: float, course: Course, policy: str, since: float) -> ContainerRun:
        """The state of a simulated container whose later runs have a course. Times of the result count from `since`."""
        start, number = self.began, self.number
        if self.ended is not None and age < self.ended:
            return ContainerRun(RUNNING, number, start - since, self.ended - since)
        if self.ended is not None:
            again = self.again_at(policy)
            if again is None or age < again:
                return self.state(policy, since)
            start, number = again, number + 1
        return container_runs.run_at(course, policy, age - start, number).later(start - since)


Runs = Mapping[str, ProcessRun]
"""The newest runs of the containers of one pod, by name."""


def names_program(container: Object) -> bool:
    """Whether a container names the program that it runs. Without it, its image decides."""
    return bool(courses.argv_of(container, {}))


def shown_in(status: Object, now: float) -> Runs:
    """The runs that a status shows. The processes of an earlier server have ended with it."""
    every = (*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ()))
    return {one["name"]: _run_of(one, now) for one in every if one.get("containerID")}


def _run_of(container: Object, now: float) -> ProcessRun:
    state, last = container.get("state") or {}, container.get("lastState") or {}
    ended = state.get("terminated") or ("waiting" in state and last.get("terminated")) or {}
    failure = ended.get("message", "") if ended.get("reason") == START_ERROR else ""
    return ProcessRun(container["restartCount"], now, now, ended.get("exitCode", _LOST_CODE), failure)
