"""Paced writing: writes long responses and watch frames at each client's pace, within one limit of memory.

TLS encrypts a copy of each byte for each connection. So a client that does not read is given no more bytes than the
kernel takes. The rest waits here, and clients that get the same bytes share them. Bytes go out in pieces, round robin,
a few milliseconds in each turn of the event loop.

    watch frame of 300 KB, 2,000 watchers, none reads     300 KB wait once, not 600 MB

Must hold: bytes go out in order. The waiting frames and the buffers of stalled connections together stay near LIMIT. At
the limit, connections that have been stalled longest are closed. A connection that takes bytes is not closed.
"""

import asyncio
import select
import selectors
from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.yielding import Share

LIMIT = 32 * 1024 * 1024
"""The bytes that a server holds for clients that have not read them."""
STALLED_BYTES = 48 * 1024
"""The encrypted bytes that a stalled connection holds, at most: buffers of the event loop and of TLS. Large pieces take
more of both.
"""
STALLED_SECONDS = 0.1
"""A connection that was stalled for a shorter time is not closed: its client may be about to read."""
UNREAD_SECONDS = 0.01
"""The time until a stall is reported. A list gives back its seats of flow control then."""
LAST_SECONDS = 5.0
"""The time limit in which a client has to read the rest of an ended watch."""

SHORT = 4 * 1024
"""The size of a piece of a watch. TLS keeps a buffer as large as the largest write while the connection lives."""
LONG = 16 * 1024
"""The size of a piece of a response: the largest record of TLS."""
LARGE = 64 * 1024
"""The size for a client that reads, since each piece takes a system call."""
_READ_BYTES = 512 * 1024
"""A connection that has taken more has a client that reads: the kernels of both ends usually keep less than half."""
_TURN_BYTES = 8 * 1024 * 1024
"""Frames are written at once, up to this sum in a turn of the event loop: TLS encrypts it in some ten milliseconds."""
_AT_ONCE = 64 * 1024
"""Longer frames wait for their turn."""
_MOST_BYTES = 128 * 1024
"""The bytes that one connection gets in a turn, at most."""


Frame: TypeAlias = "bytes | bytearray | memoryview[int] | memoryview[bytes]"
"""Bytes that are not changed while they wait."""
_NO_FRAMES: deque[Frame] = deque(maxlen=0)
"""The frames of a writer with nothing to write. Most writers of idle watches have no deque of their own."""


class _Stall(NamedTuple):
    """Since when a connection takes no bytes, and the bytes that it holds."""

    since: float
    held: int


class PacedWriters:
    """The writers of all connections of one server."""

    def __init__(self, clock: Clock, limit: int = LIMIT) -> None:
        self._clock = clock
        self._limit = limit
        self._ready: dict[PacedWriter, None] = {}
        """Writers with waiting frames, in the order in which they are served."""
        self._stalled: dict[PacedWriter, _Stall] = {}
        """Writers whose connections take no bytes; the oldest first."""
        self._stalled_bytes = 0
        self._selector: selectors.DefaultSelector | None = None
        """Tells which of the stalled connections take bytes again."""
        self._holders: dict[int, int] = {}
        """The number of writers that hold a frame, by the identity of the frame."""
        self._frame_bytes = 0
        self._dropped = 0
        self._is_scheduled = False
        self.is_used = False
        """Whether something was written in this turn of the event loop. Then the allowance is renewed after it."""
        self.allowance = _TURN_BYTES
        """The bytes that may be written at once in this turn of the event loop; none while too many are held."""

    @property
    def held_bytes(self) -> int:
        """The waiting frames, each counted once, and the buffers of stalled connections."""
        return self._frame_bytes + self._stalled_bytes

    def statistics(self) -> Mapping[str, int]:
        return {"bytes": self.held_bytes, "stalled": len(self._stalled), "dropped": self._dropped}

    def close(self) -> None:
        """Stop waiting for stalled connections."""
        if self._selector is not None:
            asyncio.get_running_loop().remove_reader(self._selector.fileno())
            self._selector.close()
            self._selector = None

    def renew_soon(self) -> None:
        """Renew the allowance in the next turn of the event loop."""
        self.is_used = True
        asyncio.get_running_loop().call_soon(self._renew)

    def hold(self, frame: Frame) -> None:
        """Count one more holder of a frame."""
        holders = self._holders.get(id(frame), 0)
        self._holders[id(frame)] = holders + 1
        if not holders:
            self._frame_bytes += len(frame)

    def release(self, frame: Frame) -> None:
        """Count one holder less."""
        holders = self._holders.pop(id(frame)) - 1
        if holders:
            self._holders[id(frame)] = holders
        else:
            self._frame_bytes -= len(frame)

    def ready(self, writer: "PacedWriter") -> None:
        """The writer has frames for a connection that may take them."""
        self._ready[writer] = None
        self._schedule()

    def stalled(self, writer: "PacedWriter") -> None:
        """The connection of the writer takes no bytes now. Calls `resume` when it does."""
        self._end_stall(writer)
        stall = self._stalled[writer] = _Stall(self._clock.monotonic(), writer.stalled_bytes)
        self._stalled_bytes += stall.held
        selector = self._opened()
        if writer.fd in selector.get_map():  # of a connection that was closed meanwhile
            selector.unregister(writer.fd)
        selector.register(writer.fd, selectors.EVENT_WRITE, writer)
        if self._is_full():
            self.allowance = 0
            self._schedule()

    def forget(self, writer: "PacedWriter") -> None:
        """The writer has nothing to write any more."""
        self._ready.pop(writer, None)
        if not self._end_stall(writer) or self._selector is None:
            return
        key = self._selector.get_map().get(writer.fd)
        if key is not None and key.data is writer:
            self._selector.unregister(writer.fd)

    def _end_stall(self, writer: "PacedWriter") -> bool:
        stall = self._stalled.pop(writer, None)
        if stall is None:
            return False
        self._stalled_bytes -= stall.held
        return True

    def _opened(self) -> selectors.BaseSelector:
        if self._selector is None:
            self._selector = selectors.DefaultSelector()
            asyncio.get_running_loop().add_reader(self._selector.fileno(), self._resume)
        return self._selector

    def _resume(self) -> None:
        assert self._selector is not None
        for key, _ in self._selector.select(0):
            writer: PacedWriter = key.data
            self.forget(writer)
            writer.resume()

    def _renew(self) -> None:
        self.is_used = False
        self.allowance = 0 if self._is_full() else _TURN_BYTES

    def _is_full(self) -> bool:
        return self.held_bytes > self._limit

    def _schedule(self) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        """Write some pieces to each ready connection, until the turn is used up. Few connections get more of it."""
        self._is_scheduled = False
        self._make_room()
        share = Share(self._clock)
        most = max(_TURN_BYTES // max(len(self._ready), 1), SHORT)
        for writer in list(self._ready):
            if self._must_wait():
                break
            del self._ready[writer]
            writer.write_some(min(most, _MOST_BYTES))
            if share.step():
                break
        self._renew()
        if self._must_wait():
            self._is_scheduled = True
            asyncio.get_running_loop().call_later(STALLED_SECONDS, self._take_turn)
        elif self._ready:
            self._schedule()

    def _must_wait(self) -> bool:
        """Whether stalled connections hold so much that others are given nothing until some are closed."""
        return bool(self._stalled) and self._is_full()

    def _make_room(self) -> None:
        """Close the connections that have been stalled longest, while there are too many bytes."""
        before = self._clock.monotonic() - STALLED_SECONDS
        while self._stalled and self._is_full():
            writer, stall = next(iter(self._stalled.items()))
            if stall.since > before:
                return
            self._dropped += 1
            writer.abort()


class PacedWriter:
    """Writes to one connection. `is_whole`: a frame is not cut into pieces, because the connection may write in
    between, as WebSockets do.
    """

    __slots__ = (
        "_frames",
        "_given",
        "_is_busy",
        "_is_stalled",
        "_is_whole",
        "_settled",
        "_stalls",
        "_taken",
        "_writers",
        "_written",
        "fd",
        "held",
        "on_stalled",
        "piece",
        "transport",
        "waiting",
    )

    def __init__(self, writers: PacedWriters, transport: asyncio.Transport, *, is_whole: bool) -> None:
        self.fd: int = transport.get_extra_info("socket").fileno()
        self._writers = writers
        self.transport = transport
        self._is_whole = is_whole
        self._frames = _NO_FRAMES
        self._written = 0
        """The bytes of the first frame that have been written."""
        self.waiting = 0
        """The bytes of frames that wait here. The transport has some, too."""
        self._given = 0
        """The bytes that were written since the kernel took all earlier ones."""
        self._taken = 0
        """The bytes that the kernel has taken."""
        self._is_stalled = self._is_busy = False
        """Busy: frames wait, or the connection takes no bytes."""
        self.piece = SHORT
        """The bytes of one write to the transport, at most."""
        self.held = 0
        """The bytes that the present response holds besides."""
        self._stalls = 0
        self.on_stalled: Callable[[], None] | None = None
        """Called when the connection has taken no bytes for UNREAD_SECONDS."""
        self._settled: asyncio.Future[None] | None = None
        """What `drain` waits for."""

    @property
    def stalled_bytes(self) -> int:
        """The bytes that the connection and its response hold when it stalls."""
        return STALLED_BYTES + 2 * max(self.piece - LONG, 0) + self.held

    @property
    def is_closed(self) -> bool:
        """Whether the connection is closed, by the client or here."""
        return self.transport.is_closing()

    def write(self, frame: Frame) -> None:
        """Write a frame behind the earlier ones. Each event for each watcher comes here."""
        size = len(frame)
        writers = self._writers
        if self._is_busy or size > writers.allowance or size > _AT_ONCE:
            self._wait(frame)
        elif self._given < self.piece or self._can_give():
            writers.allowance -= size
            if not writers.is_used:
                writers.renew_soon()
            if size > self.piece:
                self._give(frame)
            elif not self.transport.is_closing():
                self._given += size
                self.transport.write(frame)
        else:
            self._wait(frame)
            self._stall()

    def write_some(self, size: int) -> None:
        """Write pieces of the frames that wait, as far as the kernel takes them."""
        while size > 0 and self._frames:
            if self._given >= self.piece and not self._can_give():
                self._stall()
                return
            frame = self._frames[0]
            end = len(frame) if self._is_whole else min(self._written + self.piece, len(frame))
            piece = memoryview(frame)[self._written : end]
            self._written = end
            self.waiting -= len(piece)
            size -= len(piece)
            if end == len(frame):
                self._written = 0
                self._writers.release(self._frames.popleft())
            if len(piece) > self.piece:
                self._give(piece)
            elif not self.transport.is_closing():
                self._given += len(piece)
                self.transport.write(piece)
        self._go_on()

    def resume(self) -> None:
        """The kernel takes bytes again."""
        self._is_stalled = False
        self._note_taken()
        self._go_on()

    def abort(self) -> None:
        """Break the connection, and forget what waits."""
        self.close()
        self.transport.abort()

    def close_behind(self) -> None:
        """Close the connection after the bytes that wait."""
        self._give(b"".join(self._frames)[self._written :])
        self.close()
        self.transport.close()

    async def drain(self) -> None:
        """Return when the kernel has taken what waited."""
        while self._is_busy:
            if self._settled is None or self._settled.done():
                self._settled = asyncio.get_running_loop().create_future()
            await asyncio.shield(self._settled)  # others wait for it, too

    async def finish(self) -> None:
        """Return when the client has read what waited. Raises ConnectionResetError, and breaks the connection, when it
        does not.
        """
        try:
            async with asyncio.timeout(LAST_SECONDS):
                await self.drain()
        except TimeoutError:
            self.abort()
            raise ConnectionResetError("the client does not read the end of its watch") from None

    def close(self) -> None:
        """Forget what waits, and leave the connection to its next request."""
        while self._frames:
            self._writers.release(self._frames.popleft())
        self.waiting = self._written = 0
        self._is_stalled = self._is_busy = False
        self._writers.forget(self)
        self._settle()

    def _settle(self) -> None:
        if self._settled is not None and not self._settled.done():
            self._settled.set_result(None)

    def _go_on(self) -> None:
        if self._frames:
            self._writers.ready(self)
        else:
            self._is_busy = False
            self._frames = _NO_FRAMES
            self._settle()

    def _wait(self, frame: Frame) -> None:
        self._is_busy = True
        if self._frames is _NO_FRAMES:
            self._frames = deque()
        self._frames.append(frame)
        self.waiting += len(frame)
        self._writers.hold(frame)
        if not self._is_stalled:
            self._writers.ready(self)

    def _stall(self) -> None:
        self._is_stalled = self._is_busy = True
        self._stalls += 1
        self._writers.stalled(self)
        if self.on_stalled is not None:
            asyncio.get_running_loop().call_later(UNREAD_SECONDS, self._report_stall, self._stalls)

    def _report_stall(self, number: int) -> None:
        if self._is_stalled and self._stalls == number and self.on_stalled is not None:
            self.on_stalled()

    def _can_give(self) -> bool:
        """Whether the kernel has taken the earlier bytes. It is asked once a piece."""
        if self.transport.is_closing():
            return True
        poll = select.poll()
        poll.register(self.fd, select.POLLOUT)
        if not poll.poll(0):
            return False
        self._note_taken()
        return True

    def _note_taken(self) -> None:
        """The kernel has taken all that was given. Pieces of responses grow when the client must have read some."""
        self._taken += self._given
        self._given = 0
        if self._taken > _READ_BYTES and self.piece == LONG:
            self.piece = LARGE

    def _give(self, data: Frame) -> None:
        """Hand bytes to the connection, in pieces."""
        if self.transport.is_closing():
            return
        self._given += len(data)
        piece = self.piece
        if len(data) <= piece:
            self.transport.write(data)
            return
        whole = memoryview(data)  # pieces, for TLS and its buffer
        for start in range(0, len(whole), piece):
            self.transport.write(whole[start : start + piece])
