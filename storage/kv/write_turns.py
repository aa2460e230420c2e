"""Write turns: lets reads pass the writes that wait for the event loop.

A write takes the event loop several times as long as a read. Without turns, a GET waits for all writes that came with
it: 128 clients that write hold it up for a tenth of a second. Here each turn of the loop does the work of one write,
while the server has reads. So a read waits for one write.

    reads and writes arrive: R1 W1 W2 R2 W3    turn 1: R1 W1 R2    turn 2: W2, new reads    turn 3: W3, new reads

A write on etcd has two turns: one until it is sent, and one from etcd's confirmation on. Confirmations arrive many at a
time, as etcd commits many writes together.

A read on etcd waits for the answer to a question. New writes are held back meanwhile, so that the loop is free when
the answer comes, and etcd has a processor for it:

    R1 asks    W1 W2 arrive    the answer, R1 ends    turn 1: W1    turn 2: W2

Must hold: writes begin in the order of their arrival, and no write waits while the loop is idle, unless a question is
under way. Many reads do not starve writes. Further writes have their turn in proportion to the reads of the turn
before. New writes are held back for a millisecond at a time, and for half of the time at most.
"""

import asyncio
from collections import deque

_QUIET_SECONDS = 1.0
"""After so long without a read, all writes begin at once, those that wait too: they share more work in one turn."""
_READS_FOR_ONE = 4
"""So many reads take the event loop about as long as one write."""
_HELD_SECONDS = 0.001
"""etcd answers most questions in a third of this time."""

Turn = asyncio.Future[None]


class WriteTurns:
    """The turns of one server's writes. The caller counts the `reads` that begin, and notes when the last one did.

    held_seconds: how long new writes wait for the answer to a question.
    """

    def __init__(self, *, held_seconds: float = _HELD_SECONDS) -> None:
        self.reads = 0
        self.read_at = -_QUIET_SECONDS
        self._write_at = 0.0
        """When the latest write came."""
        self._new: deque[Turn] = deque()
        self._confirmed: deque[Turn] = deque()
        """The writes that wait, those with a confirmation first."""
        self._is_taken = False
        """Whether a write has had its turn in this turn of the event loop."""
        self._have_gone = False
        """Whether writes that waited go on in this turn of the event loop."""
        self._held_seconds = held_seconds
        self._questions = 0
        self._is_held = False
        self._held_at = 0.0
        self._free_until = 0.0
        """New writes are not held back again before."""
        self._timer: asyncio.TimerHandle | None = None
        """Ends the time in which new writes are held back."""

    def begin_write(self, now: float) -> Turn | None:
        """None for a write that may begin. Other writes begin when the future is done."""
        if self._is_held:
            self._limit_hold()
        return self._turn(self._new, now, is_free=not self._is_held)

    def go_on(self, now: float) -> Turn | None:
        """The same for a write that the store has confirmed."""
        return self._turn(self._confirmed, now, is_free=True)

    def ask(self, now: float) -> None:
        """A question of a read to the store is under way."""
        self._questions += 1
        if self._questions == 1 and now >= self._free_until and now - self.read_at < _QUIET_SECONDS:
            self._is_held, self._held_at, self._free_until = True, now, float("inf")

    def answered(self, now: float) -> None:
        """A question is not under way any more."""
        self._questions -= 1
        if not self._questions and self._free_until == float("inf"):
            self._free_until = now + (now - self._held_at)
            self._release()

    def _turn(self, queue: deque[Turn], now: float, *, is_free: bool) -> Turn | None:
        self._write_at = now
        if is_free and not self._is_taken:
            if now - self.read_at < _QUIET_SECONDS:
                self._take_turn()
            return None
        turn: Turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        return turn

    def _take_turn(self) -> None:
        self._is_taken = True
        asyncio.get_running_loop().call_soon(self._end_turn)

    def _end_turn(self) -> None:
        """Let the next writes go. The event loop calls this behind the reads that have arrived meanwhile."""
        self._is_taken = False
        if self._is_held and self._new:
            self._limit_hold()
        is_quiet = self._write_at - self.read_at >= _QUIET_SECONDS
        left = len(self._confirmed) + len(self._new) if is_quiet else 1 + self.reads // _READS_FOR_ONE
        self.reads = 0
        had_gone, self._have_gone = self._have_gone, False
        while left and (turn := self._next()) is not None:
            if not turn.done():  # a client that has disconnected cancels its request
                turn.set_result(None)
                left -= 1
                self._have_gone = True
        if had_gone or self._have_gone:  # those that go now take the next turn
            self._take_turn()

    def _next(self) -> Turn | None:
        if self._confirmed:
            return self._confirmed.popleft()
        return self._new.popleft() if self._new and not self._is_held else None

    def _limit_hold(self) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._held_seconds, self._release)

    def _release(self) -> None:
        """Hold new writes back no more."""
        self._is_held = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._new and not self._is_taken:
            self._take_turn()
