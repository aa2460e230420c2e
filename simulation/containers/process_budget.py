"""Process budget: what one simulated process and its children may compute and hold.

    steps     a process has so many, and gets some back for each second that it waits
    bytes     what its variables, pipes and texts hold; a command that ends releases all but variables
    turn      after so many steps the process gives the event loop back, and goes on later

The code that runs a process charges before it works: a step for a microsecond or two. Must hold: the steps of one turn
are bounded, also for a command that cannot pause. A process beyond its limits is killed, with code 137.
"""

from typing import NoReturn

from msgspec import Struct

from aio_apiserver.base.budget import Budget, BudgetLimits
from aio_apiserver.simulation.containers.memory import Holder, Memory, OutOfMemory

KILLED = 137
OUT_OF_MEMORY, OUT_OF_STEPS = "OOMKilled", "Error"
"""The reasons in the status of a container that was killed."""
_TURN_STEPS = 2_000
_MOST_IN_A_TURN = 40_000
"""The steps after which a command that does not pause is killed: some 50 ms."""
_BYTES_A_STEP = 4096
"""Bytes that are copied in a step."""


class ProcessLimits(Struct, frozen=True):
    """The limits of a kind of process. `refill`: the steps that a second of waiting gives back."""

    steps: int
    refill: int
    bytes_held: int = 16 * 1024 * 1024


COMMAND = ProcessLimits(steps=10_000_000, refill=500_000)
"""A command of `kubectl exec` or `kubectl attach`."""
PROGRAM = ProcessLimits(steps=200_000, refill=200_000)
"""The program of a container, whose files and output are played for other commands and for logs."""
PROBE = ProcessLimits(steps=100_000, refill=100_000)
JUDGED = ProcessLimits(steps=100_000, refill=0)
"""A program whose end is computed ahead of time. One that takes more steps counts as one without an end."""


class Killed(Exception):
    """A process has exceeded its limits. The text is for its output. `reason`: for the status of its container."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class ProcessBudget(Budget):
    """The account of one process with its children. `share`: the account of larger work that the process is a part of.

    Raises Killed beyond its own limits, and BudgetExceeded beyond those of the share.
    """

    __slots__ = ("_holder", "_refill", "_share", "_turn_left")

    def __init__(self, limits: ProcessLimits, memory: Memory, share: Budget | None = None) -> None:
        super().__init__(BudgetLimits(limits.steps, limits.bytes_held))
        self._refill = limits.refill
        self._share = share
        self._holder = Holder(memory)
        self._turn_left = _TURN_STEPS

    @property
    def is_turn_over(self) -> bool:
        """Whether the process should give the event loop back."""
        return self._turn_left < 0

    def begin_turn(self) -> None:
        self._turn_left = _TURN_STEPS

    def wait(self, seconds: float) -> None:
        """Give back the steps for a time in which the process does nothing."""
        self._steps_left = int(min(self._limits.steps, self._steps_left + seconds * self._refill))

    def spend(self, steps: int = 1) -> None:
        if self._share is not None:
            self._share.spend(steps)
        self._turn_left -= steps
        self._steps_left -= steps
        if self._steps_left < 0 or self._turn_left < -_MOST_IN_A_TURN:
            _kill(OUT_OF_STEPS, "a simulated process has used up its steps")

    def make(self, size: int) -> None:
        self._bytes_left -= size
        if self._bytes_left < 0:
            _kill(OUT_OF_MEMORY, f"a simulated process has at most {self._limits.bytes_made} bytes")
        self.spend(size // _BYTES_A_STEP)
        if self._share is not None:
            self._share.make(size)
        try:
            self._holder.hold(self.bytes_held)
        except OutOfMemory:
            _kill(OUT_OF_MEMORY, "the simulated containers of this server have no memory left")

    def release(self, size: int) -> None:
        super().release(size)
        self._holder.hold(max(0, self.bytes_held))
        if self._share is not None:
            self._share.release(size)

    def close(self) -> None:
        """Release all: the process has ended."""
        self.release_to(0)

    def release_to(self, size: int) -> None:
        """Release all bytes beyond those that are held at least."""
        if self.bytes_held > size:
            self.release(self.bytes_held - size)


def _kill(reason: str, message: str) -> NoReturn:
    raise Killed(reason, f"Killed: {message}")
