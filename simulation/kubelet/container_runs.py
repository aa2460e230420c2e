"""Container runs: the state of a simulated container over time: running, ended, or waiting to be started again.

Pure. As a kubelet, the first restart comes at once, and later ones after 10, 20, 40 ... and at most 300 seconds.
"""

from typing import NamedTuple, Self

from aio_apiserver.simulation.containers.courses import Course

RUNNING, TERMINATED, WAITING = "running", "terminated", "waiting"
_FIRST_PAUSE, _LONGEST_PAUSE = 10.0, 300.0
_PAUSES_BEFORE_LONGEST = 7
_RESET_SECONDS = 600.0
"""A run of that length ends the pauses."""


class ContainerRun(NamedTuple):
    """The state after some time. `began` and `until`: the seconds at which it began, and at which it changes."""

    state: str
    restarts: int
    began: float
    until: float | None

    def later(self, seconds: float) -> Self:
        """The same state with other times."""
        until = None if self.until is None else self.until + seconds
        return self._replace(began=self.began + seconds, until=until)


def restarts(policy: str, code: int) -> bool:
    """Whether a container is started again after it has ended with a code."""
    return policy == "Always" or (policy == "OnFailure" and code != 0)


def run_at(course: Course, policy: str, age: float, count: int = 0) -> ContainerRun:
    """The state of a container `age` seconds after its start, with so many restarts before."""
    start, course = 0.0, course.at(count)
    while True:
        end = start + course.seconds
        if age < end:
            return ContainerRun(RUNNING, count, start, end if end != float("inf") else None)
        if not restarts(policy, course.code):
            return ContainerRun(TERMINATED, count, end, None)
        pause = pause_after(course, count)
        if age < end + pause:
            return ContainerRun(WAITING, count, end, end + pause)
        skipped = _skipped(course, pause, count, age - start) if course.then is None else 1
        start, count = start + skipped * (course.seconds + pause), count + skipped
        course = course.then or course


def success_at(course: Course, policy: str) -> float:
    """The seconds after its first start at which a container has succeeded."""
    start, count = 0.0, 0
    while course.code and course.then is not None and restarts(policy, course.code):
        start += course.seconds + pause_after(course, count)
        count, course = count + 1, course.then
    return float("inf") if course.code else start + course.seconds


def pause_after(course: Course, count: int) -> float:
    """The seconds after the end of a run until the next one begins."""
    if course.seconds >= _RESET_SECONDS or not count:
        return 0.0
    return float(min(_FIRST_PAUSE * 2 ** min(count - 1, _PAUSES_BEFORE_LONGEST), _LONGEST_PAUSE))


def _skipped(course: Course, pause: float, count: int, age: float) -> int:
    """The number of runs until a later one, when all pauses in between are alike."""
    is_steady = course.seconds >= _RESET_SECONDS or count > _PAUSES_BEFORE_LONGEST
    return max(1, int(age // (course.seconds + pause))) if is_steady else 1
