"""Process: runs the steps of one simulated program in turns, until it waits or ends.

It knows no clock and no event loop. Must hold: a turn is short. A process that exceeds its budget ends with an error
text and the code 137, as one that the kernel has killed.
"""

from collections.abc import Sequence

from msgspec import Struct

from aio_apiserver.simulation.containers.process_budget import KILLED, Killed, ProcessBudget
from aio_apiserver.simulation.containers.shell import Exit, FunctionReturn
from aio_apiserver.simulation.containers.steps import ERROR, Input, Pause, Steps, Written

_MOST_WRITTEN = 64 * 1024
"""The bytes after which a turn ends, so that the reader keeps up."""
_SECONDS_OF_INPUT = 1.0
"""What a piece of input counts as waiting."""
_TOO_DEEP = 2


class ProcessEnd(Struct, frozen=True):
    """How a process has ended. `reason`: why it was killed, as the status of its container shows it."""

    code: int
    reason: str = ""
    has_exited: bool = False
    """Whether it has called `exit`, so that no other commands of its program follow."""


class ProcessTurn(Struct, frozen=True):
    """What a process has written in a turn, and what it does next: it waits, needs input, has ended, or goes on."""

    written: Sequence[Written]
    seconds: float = 0.0
    needs_input: bool = False
    end: ProcessEnd | None = None


class SimulatedProcess:
    """A program by its steps, and the budget that they draw on."""

    def __init__(self, steps: Steps, budget: ProcessBudget) -> None:
        self._steps = steps
        self._budget = budget

    def run_turn(self, sent: bytes | None = None) -> ProcessTurn:
        """Run until the turn is over, or the process waits or ends. `sent`: the input that it has waited for."""
        written: list[Written] = []
        self._budget.begin_turn()
        try:
            return self._until_waiting(written, sent)
        except StopIteration as end:
            return ProcessTurn(written, end=ProcessEnd(int(end.value)))
        except (Exit, FunctionReturn) as exc:
            return ProcessTurn(written, end=ProcessEnd(exc.code, has_exited=True))
        except Killed as exc:
            return ProcessTurn([*written, _message(exc)], end=ProcessEnd(KILLED, exc.reason))
        except RecursionError as exc:
            return ProcessTurn([*written, _message(exc)], end=ProcessEnd(_TOO_DEEP))

    def close(self) -> None:
        """End the process, if it has not ended, and release what it holds."""
        self._steps.close()
        self._budget.close()

    def _until_waiting(self, written: list[Written], sent: bytes | None) -> ProcessTurn:
        """Carry steps out. Raises StopIteration at the end of the program."""
        size = 0
        while True:
            step, sent = self._steps.send(sent), None
            if isinstance(step, Written):
                written.append(step)
                size += len(step.data)
            elif isinstance(step, Input):
                self._budget.wait(_SECONDS_OF_INPUT)
                return ProcessTurn(written, needs_input=True)
            elif isinstance(step, Pause) and step.seconds:
                self._budget.wait(step.seconds)
                return ProcessTurn(written, seconds=step.seconds)
            if size >= _MOST_WRITTEN or self._budget.is_turn_over:
                return ProcessTurn(written)


def _message(failure: Exception) -> Written:
    return Written(f"sh: {failure}\n".encode(errors="replace"), ERROR)
