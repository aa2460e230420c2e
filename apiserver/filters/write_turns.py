"""Write turns: lets reads pass the writes that wait for the event loop.

A write takes the event loop several times as long as a read. Without turns, a GET waits for all writes that came with
it: 128 clients that write hold it up for a tenth of a second. Here each turn of the loop begins one write, while the
server has reads. So a read waits for one write.

    reads and writes arrive: R1 W1 W2 R2 W3    turn 1: R1 W1 R2    turn 2: W2, new reads    turn 3: W3, new reads

Must hold: writes begin in the order of their arrival, and no write waits while the loop is idle. Many reads do not
starve writes: further writes begin in proportion to the reads of the turn before.
"""

import asyncio
from collections import deque

_QUIET_SECONDS = 1.0
"""After so long without a read, all writes begin at once, those that wait too: they share more work in one turn."""
_READS_FOR_ONE = 4
"""So many reads take the event loop about as long as one write."""


class WriteTurns:
    """The turns of one server's writes. The caller counts the `reads` that begin, and notes when the last one did."""

    def __init__(self) -> None:
        self.reads = 0
        self.read_at = -_QUIET_SECONDS
        self._write_at = 0.0
        """When the latest write came."""
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_taken = False
        """Whether a write has begun in this turn of the event loop."""

    def begin_write(self, now: float) -> asyncio.Future[None] | None:
        """None for a write that may begin. Other writes begin when the future is done."""
        self._write_at = now
        if not self._is_taken:
            if now - self.read_at < _QUIET_SECONDS:
                self._take_turn()
            return None
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        return turn

    def _take_turn(self) -> None:
        self._is_taken = True
        asyncio.get_running_loop().call_soon(self._end_turn)

    def _end_turn(self) -> None:
        """Begin the next writes. The event loop calls this behind the reads that have arrived meanwhile."""
        is_quiet = self._write_at - self.read_at >= _QUIET_SECONDS
        left = len(self._waiting) if is_quiet else 1 + self.reads // _READS_FOR_ONE
        self.reads = 0
        self._is_taken = False
        while left and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():  # a client that has disconnected cancels its request
                turn.set_result(None)
                left -= 1
                self._is_taken = True
        if self._is_taken:
            self._take_turn()
