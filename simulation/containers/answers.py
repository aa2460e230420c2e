"""Answers: runs a command of a simulated container at once, and tells how it ends and what it writes.

Its pauses are counted and not waited for. Must hold: a command has a time limit and a limited number of steps.
"""

from collections.abc import Sequence
from typing import NoReturn

from msgspec import Struct

from aio_apiserver.simulation.containers.shell import Exit, FunctionReturn, Shell
from aio_apiserver.simulation.containers.steps import Pause, Steps, Written

_MOST_STEPS = 2000
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


def of_command(shell: Shell, argv: Sequence[str], most_seconds: float) -> ProgramAnswer:
    """The answer of a command. Raises NotSimulated, also for a script that the simulated shell cannot read."""
    output = bytearray()
    shell.stdin = b""
    try:
        code = _code(shell.execute(argv), output, most_seconds)
    except RecursionError as exc:
        raise NotSimulated from exc
    if code == _SYNTAX_ERROR and output.startswith(b"sh: "):
        raise NotSimulated
    return ProgramAnswer(code, output[:_MOST_BYTES].decode(errors="replace"))


def _code(steps: Steps, output: bytearray, most_seconds: float) -> int | None:
    """The exit code of a program; None when it takes too long."""
    seconds = 0.0
    try:
        for _ in range(_MOST_STEPS):
            step = steps.send(None)
            if isinstance(step, Written) and len(output) < _MOST_BYTES:
                output += step.data
            seconds += step.seconds if isinstance(step, Pause) else 0.0
            if seconds > most_seconds:
                break
    except StopIteration as end:
        return int(end.value)
    except (Exit, FunctionReturn) as exc:
        return exc.code
    steps.close()
    return None
