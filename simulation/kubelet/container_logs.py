"""Container logs: the output of the main program of a simulated container, with the time of each line.

The annotation `simulate.aio-apiserver/logs` gives the text. Without it the script of the container is run again, up to
the present second. Must hold: a log ends, unless a client follows it.
"""

from collections.abc import AsyncIterator
from contextlib import closing
from io import BytesIO
from typing import NamedTuple

from msgspec.structs import replace

from aio_apiserver.base import budget
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.pods import seconds
from aio_apiserver.simulation.containers import courses
from aio_apiserver.simulation.containers.courses import PresentFiles
from aio_apiserver.simulation.containers.process import SimulatedProcess
from aio_apiserver.simulation.containers.steps import FOREVER
from aio_apiserver.simulation.kubelet import pod_courses
from aio_apiserver.simulation.kubelet.container_worlds import ContainerWorlds, status_of
from aio_apiserver.simulation.model.annotations import PREFIX
from aio_apiserver.simulation.model.container_contents import with_fields
from aio_apiserver.simulation.processes.process_log import ProcessLog

_MOST_TURNS = 30_000
"""The turns up to the present second."""
_CUT = b"The log of a simulated container ends here: its script takes too long to be run again.\n"
_NOTHING = (
    "This container is simulated: its program does not run and writes no log. The annotation "
    f"{PREFIX}logs of the pod gives one.\n"
)


class NoLog(Exception):
    """The container has no log; the text is for clients."""


class LogLine(NamedTuple):
    """A piece of output, and the time in seconds since the epoch."""

    time: float
    data: bytes


def started_at(pod: Object, container: str, *, is_previous: bool) -> float:
    """When the container was started. Raises NoLog."""
    shown = status_of(pod, container)
    state, last = shown.get("state") or {}, shown.get("lastState") or {}
    candidates = [last.get("terminated")]
    if not is_previous:
        candidates = [state.get("running"), state.get("terminated"), *candidates]
    times = next(filter(None, candidates), None)
    if times is not None:
        return seconds(times["startedAt"])
    name = pod["metadata"]["name"]
    if is_previous:
        raise NoLog(f'previous terminated container "{container}" in pod "{name}" not found')
    why = (state.get("waiting") or {}).get("reason", "ContainerCreating")
    raise NoLog(f'container "{container}" in pod "{name}" is waiting to start: {why}')


async def text_of(pod: Object, container: Object, present: PresentFiles) -> str | None:
    """The text that stands for the log; None when the container's script writes it. Raises BudgetExceeded.

    present: the files that other pods had left in its volumes.
    """
    text = (pod["metadata"].get("annotations") or {}).get(f"{PREFIX}logs")
    if text is not None:
        return text if text.endswith("\n") or not text else f"{text}\n"
    fields = with_fields(pod, container)
    if not courses.argv_of(fields, courses.env_of(fields)):
        return _NOTHING
    course = await budget.within(
        pod_courses.JUDGED,
        lambda account: pod_courses.own_course(pod, container, account, present),
        pod["metadata"]["namespace"],
    )
    return _NOTHING if course is None else None


async def output(
    worlds: ContainerWorlds, pod: Object, container: Object, began: float, clock: Clock, *, until: float | None
) -> AsyncIterator[LogLine]:
    """The output of a container up to a time; None to wait for more as time passes. Raises BudgetExceeded."""
    text = await text_of(pod, container, await worlds.present_files(pod))
    if text is not None:
        for line in text.splitlines(keepends=True):
            yield LogLine(began, line.encode())
        return
    shell = await worlds.apart(pod, container)
    shell.stdin, time, share = BytesIO(), began, worlds.share_of(pod)
    shell.world = replace(shell.world, now=lambda: time)
    argv = courses.argv_of(container, courses.env_of(with_fields(pod, container)))
    with closing(SimulatedProcess(shell.execute(argv), shell.budget)) as process:
        turns_left = _MOST_TURNS
        while turns_left:
            turn = await share.run(process.run_turn)
            for one in turn.written:
                yield LogLine(time, one.data)
            time += turn.seconds
            if turn.end is not None or time == FOREVER or (until is not None and time > until):
                return
            if until is None and time > clock.now():
                await clock.sleep(time - clock.now())
            else:
                turns_left -= 1
        yield LogLine(time, _CUT)


async def written(log: ProcessLog, *, follows: bool) -> AsyncIterator[LogLine]:
    """The output of a local process. follows: also what it writes later."""
    async for piece in log.pieces(follows=follows):
        yield LogLine(piece.time, piece.data)


async def lost(pod: Object, container: str) -> AsyncIterator[LogLine]:
    """The words of a kubelet for a log that has gone, as those of processes do with their server."""
    yield LogLine(0.0, f"unable to retrieve container logs for {status_of(pod, container)['containerID']}".encode())


def run_of(pod: Object, container: str, *, is_previous: bool) -> int:
    """The number of a container's newest run, or of the last one that has ended and is not shown as its state."""
    shown = status_of(pod, container)
    number = int(shown.get("restartCount", 0))
    return number - 1 if is_previous and "waiting" not in (shown.get("state") or {}) else number


def end_of(pod: Object, container: str, now: float, *, is_previous: bool) -> float:
    """The time up to which a container has written."""
    state = status_of(pod, container).get("lastState" if is_previous else "state") or {}
    return now if "running" in state else FOREVER
