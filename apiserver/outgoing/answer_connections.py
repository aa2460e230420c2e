"""answer_connections: the connections of aiohttp's client, with the limits of answer_parser.py.

A server sends as fast as it likes. A connection hands over at most 16 KB in one turn of the event loop. Usually that
takes some 20 microseconds; with chunks of one byte each, several milliseconds. Reads that take long are paid with a
pause. All connections of a client pay into one account, so that together they have a small share of the event loop.

Must hold: every client of this process gets its connections here.
"""

import asyncio
import time
from functools import partial
from typing import Any

from aiohttp import ClientSession, TCPConnector
from aiohttp.client_proto import ResponseHandler

from aio_apiserver.apiserver.outgoing.answer_parser import AnswerParser
from aio_apiserver.apiserver.wire import receiving
from aio_apiserver.apiserver.wire.receiving import SharedBufferReceiver
from aio_apiserver.base.clock import Clock, SystemClock

_TURN_BYTES = 16 * 1024
_FREE_SECONDS = 0.0005
"""The CPU time that a read may take without a pause."""
_MOST_SECONDS = 0.01
"""What counts at most: the rest is a garbage collection."""
_PAUSE_FACTOR = 8
_UNREAD_BYTES = 64 * 1024
"""The bytes of a body that wait for their reader, before the connection is paused; at most twice as many."""
FLUSH_SECONDS = 5.0
"""The time of a server to read what it was sent before its connection is closed."""
_LINE_LIMIT = 64 * 1024
_MOST_FIELDS = 1024


class LongReads:
    """The pauses after reads that took long."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._paid_until = 0.0

    def pause_after(self, seconds: float) -> float:
        """The pause after a read that took so many seconds of CPU time."""
        now = self._clock.monotonic()
        self._paid_until = max(self._paid_until, now) + _PAUSE_FACTOR * min(seconds, _MOST_SECONDS)
        return self._paid_until - now


class BoundedAnswers(ResponseHandler):
    """One connection to a server."""

    def __init__(self, loop: asyncio.AbstractEventLoop, long_reads: LongReads) -> None:
        super().__init__(loop)
        self._long_reads = long_reads

    def data_received(self, data: bytes) -> None:
        """Take what was read."""
        began = time.thread_time()
        super().data_received(data)
        taken = time.thread_time() - began
        if taken > _FREE_SECONDS and self.transport is not None:
            self._pause_reading_for_buffer()
            self._loop.call_later(self._long_reads.pause_after(taken), self._resume_reading_for_buffer)

    def set_response_params(self, **params: Any) -> None:
        """Expect the answer to the next request."""
        early, self._tail = self._tail, b""
        super().set_response_params(**params)
        usual: Any = self._parser
        parser: Any = AnswerParser(usual, self)
        self._parser = parser
        if early:
            self.data_received(early)

    def resume_reading(self, resume_parser: bool = True) -> None:
        """Read on. The reader of a body asks for that with each chunk."""
        if self._reading_paused:
            super().resume_reading(resume_parser)

    def close(self) -> None:
        """Close the connection, when the server has read the rest of its request or soon after."""
        transport = self.transport
        super().close()
        if transport is not None:
            self._loop.call_later(FLUSH_SECONDS, transport.abort)

    def break_off(self) -> None:
        """Close the connection now, also when the server does not read the rest of its request."""
        if self.transport is not None:
            self.transport.abort()


class BoundedConnector(TCPConnector):
    """Opens the connections; as many as are asked for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(limit=0, **settings)
        loop = asyncio.get_running_loop()
        self._factory: Any = partial(BoundedAnswers, loop, LongReads(SystemClock()))
        self._buffer = receiving.new_buffer(_TURN_BYTES)

    async def _wrap_create_connection(self, *args: Any, **settings: Any) -> Any:
        """Connect. The first argument makes the protocol, which the transport feeds through the buffer."""
        connection = args[0]()
        receiving_of = partial(SharedBufferReceiver, connection, self._buffer)
        transport, _ = await super()._wrap_create_connection(receiving_of, *args[1:], **settings)
        return transport, connection


def session(connector: BoundedConnector, **settings: Any) -> ClientSession:
    """A session with the limits of one head."""
    return ClientSession(
        connector=connector,
        read_bufsize=_UNREAD_BYTES,
        max_line_size=_LINE_LIMIT,
        max_field_size=_LINE_LIMIT,
        max_headers=_MOST_FIELDS,
        **settings,
    )
