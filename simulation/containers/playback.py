"""Playback: plays the own program of a container up to a time, so that its files are there for other commands.

It knows no clock. Must hold: a program that does not wait is stopped. One call plays a limited number of steps.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from aio_apiserver.simulation.containers.shell import Exit, FunctionReturn, Shell
from aio_apiserver.simulation.containers.steps import FOREVER, Pause, Step, Steps

_MOST_STEPS = 20_000
_MOST_WITHOUT_WAITING = 5000


def runs_on(_name: str, _arguments: Sequence[str]) -> Steps:
    """A program without a simulation in the script of a container."""
    yield Pause(FOREVER)
    return 0


class Playback:
    """A program that began at a time. `time`: up to where it was played."""

    def __init__(self, shell: Shell, argv: Sequence[str], began: float) -> None:
        self.time = began
        shell.world = replace(shell.world, now=lambda: self.time)
        shell.stdin = b""
        self._steps: Steps | None = shell.execute(argv)
        self._hurried = 0
        """The steps since the program has waited."""

    def play(self, until: float) -> None:
        """Play the steps that are due. A program with very many steps is played on by the next call."""
        for _ in range(_MOST_STEPS):
            if self._steps is None or self.time > until:
                return
            try:
                self._take(self._steps.send(None))
            except (StopIteration, Exit, FunctionReturn, RecursionError):
                self._steps = None

    def _take(self, step: Step) -> None:
        self._hurried += 1
        if isinstance(step, Pause) and step.seconds:
            self.time += step.seconds
            self._hurried = 0
        elif self._hurried > _MOST_WITHOUT_WAITING:
            self._steps = None
