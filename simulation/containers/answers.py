"""Answers: runs a command of a simulated container at once, and tells how it ends and what it writes.

Its pauses are counted and not waited for. Must hold: a command has a time limit, and the limits of its budget.
"""

from collections.abc import Sequence
from contextlib import closing
from io import BytesIO
from typing import NoReturn

from msgspec import Struct

from aio_apiserver.simulation.containers.process import SimulatedProcess
from aio_apiserver.simulation.containers.shell import Shell
from aio_apiserver.simulation.containers.turns import TurnShare

_MOST_BYTES = 10 * 1024
_SYNTAX_ERROR = 2


class NotSimulated(Exception):
    """A command uses a program that has no simulation."""


class ProgramAnswer(Struct, frozen=True):
    """How a command has ended. code: None when it has not ended in its time."""

    code: int | None
    output: str


def not_simulated(_name: str, _arguments: Sequence[str]) -> NoReturn:
    raise NotSimulated


async def of_command(shell: Shell, argv: Sequence[str], most_seconds: float, share: TurnShare) -> ProgramAnswer:
    """The answer of a command.

    Raises NotSimulated, also for a script that the simulated shell cannot read.
    """
    output, seconds = bytearray(), 0.0
    shell.stdin = BytesIO()
    with closing(SimulatedProcess(shell.execute(argv), shell.budget)) as process:
        while seconds <= most_seconds:
            turn = await share.run(process.run_turn)
            seconds += turn.seconds
            for one in turn.written:
                output += one.data[: _MOST_BYTES - len(output)]
            if turn.end is not None and turn.end.code == _SYNTAX_ERROR and output.startswith(b"sh: "):
                raise NotSimulated
            if turn.end is not None:
                return ProgramAnswer(turn.end.code, output.decode(errors="replace"))
    return ProgramAnswer(None, output.decode(errors="replace"))
