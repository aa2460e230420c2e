"""Playback: plays the own program of a container up to a time, so that its files are there for other commands.

It knows no clock. Must hold: a program that does not wait is killed by its budget. One call plays a limited number of
turns.
"""

from collections.abc import Sequence
from io import BytesIO

from msgspec.structs import replace

from aio_apiserver.simulation.containers.process import SimulatedProcess
from aio_apiserver.simulation.containers.shell import Shell
from aio_apiserver.simulation.containers.steps import FOREVER, Pause, Steps
from aio_apiserver.simulation.containers.turns import TurnShare

_MOST_TURNS = 200


def runs_on(_name: str, _arguments: Sequence[str]) -> Steps:
    """A program without a simulation in the script of a container."""
    yield Pause(FOREVER)
    return 0


class Playback:
    """A program that began at a time. `time`: up to where it was played."""

    def __init__(self, shell: Shell, argv: Sequence[str], began: float) -> None:
        self.time = began
        shell.world = replace(shell.world, now=lambda: self.time)
        shell.stdin = BytesIO()
        self._process: SimulatedProcess | None = SimulatedProcess(shell.execute(argv), shell.budget)

    async def play(self, until: float, share: TurnShare) -> None:
        """Play what is due. A program with very many turns is played on by the next call."""
        for _ in range(_MOST_TURNS):
            process = self._process
            if process is None or self.time > until:
                return
            turn = await share.run(process.run_turn)
            self.time += turn.seconds
            if turn.end is not None:
                process.close()
                self._process = None
