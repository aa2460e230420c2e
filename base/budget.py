"""Budget: what one piece of work for a client may cost, in steps and in bytes.

Whatever a client can make the server compute draws on a budget: the simulated shell, templates, JSONPath, patches,
redaction, frames. The code charges its budget before it does a step or makes bytes, so that the limit is the most.

    budget = Budget(BudgetLimits(steps=10_000, bytes_made=1 << 20))
    budget.spend(len(fields))               # before a loop over them
    budget.make(len(text) * repetitions)    # before the text is made

`within` runs work on the event loop for as long as a slice of the loop allows. All work in one turn of the loop shares
one slice. Work that needs more is begun again in the worker thread, with all of its limits. There it has its user's
fair share of the time.

Must hold: work is pure, since it may be begun twice. Limits count steps and bytes, not time: the same input has the
same outcome on a slower machine. A step is what takes at most a microsecond or two.
"""

import asyncio
from collections.abc import Callable
from typing import TypeVar
from weakref import WeakKeyDictionary

from msgspec import Struct

from aio_apiserver.base import worker_thread

T = TypeVar("T")


class BudgetExceeded(Exception):
    """The work would cost more than its budget; `resource` is "steps" or "bytes"."""

    def __init__(self, resource: str, limit: int) -> None:
        super().__init__(f"more than {limit} {resource}")
        self.resource = resource
        self.limit = limit


class BudgetLimits(Struct, frozen=True):
    """The most that a kind of work may cost."""

    steps: int
    bytes_made: int


SLICE = BudgetLimits(steps=5_000, bytes_made=256 * 1024)
"""What work may cost in one turn of the event loop: some 5 to 10 ms."""


class Budget:
    """The account of one piece of work."""

    __slots__ = ("_bytes_left", "_limits", "_steps_left")

    def __init__(self, limits: BudgetLimits) -> None:
        self._limits = limits
        self._steps_left = limits.steps
        self._bytes_left = limits.bytes_made

    def spend(self, steps: int = 1) -> None:
        """Pay for steps that come next. Raises BudgetExceeded."""
        self._steps_left -= steps
        if self._steps_left < 0:
            raise BudgetExceeded("steps", self._limits.steps)

    def make(self, size: int) -> None:
        """Pay for bytes, or characters of a text, that the next step makes. Raises BudgetExceeded."""
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise BudgetExceeded("bytes", self._limits.bytes_made)

    def release(self, size: int) -> None:
        """Give back bytes that are gone, such as those of a variable that has another value now."""
        self._bytes_left += size

    @property
    def steps_spent(self) -> int:
        """For those who report what work has cost."""
        return self._limits.steps - self._steps_left

    @property
    def bytes_held(self) -> int:
        """The bytes that were made and not released."""
        return self._limits.bytes_made - self._bytes_left


async def within(limits: BudgetLimits, work: Callable[[Budget], T], user: str) -> T:
    """The result of pure work: on the event loop when it is short, else in the worker thread. Raises BudgetExceeded."""
    turn = _turn_of(asyncio.get_running_loop())
    try:
        return turn.run(limits, work)
    except BudgetExceeded:
        return await worker_thread.run(lambda: work(Budget(limits)), user)


class _LoopTurn:
    """The slice of the present turn of one event loop. The loop gets another slice in its next turn."""

    def __init__(self) -> None:
        self._left = SLICE
        self._is_used = False

    def run(self, limits: BudgetLimits, work: Callable[[Budget], T]) -> T:
        """The result of work that costs no more than this turn has left. Raises BudgetExceeded."""
        left = self._left
        budget = Budget(BudgetLimits(min(limits.steps, left.steps), min(limits.bytes_made, left.bytes_made)))
        try:
            return work(budget)
        finally:
            self._left = BudgetLimits(max(0, left.steps - budget.steps_spent), left.bytes_made)
            if not self._is_used:
                self._is_used = True
                asyncio.get_running_loop().call_soon(self._end)

    def _end(self) -> None:
        self._left, self._is_used = SLICE, False


def _turn_of(loop: asyncio.AbstractEventLoop) -> _LoopTurn:
    turn = _turns.get(loop)
    if turn is None:
        turn = _turns[loop] = _LoopTurn()
    return turn


_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopTurn] = WeakKeyDictionary()
