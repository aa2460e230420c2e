"""http2: the client's side of one HTTP/2 connection (RFC 9113), with many streams at once.

For each short request, the library h2 takes some 100 microseconds of the event loop, and grpc.aio 45 to 150. Here it
is 10, as this module knows of HTTP/2 what a gRPC client needs. The frames that a turn of the event loop makes go out in
one write, and those that have arrived are read in one turn.

Must hold: no frame breaks HTTP/2's flow control or the server's limit of streams. A receiver gets the frames of its
stream in order, and one end: `end` or `fail`. It is told when the server has certainly not acted on its stream.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Protocol, cast

from aio_apiserver.storage.kv.etcd import http2_frames as frames
from aio_apiserver.storage.kv.etcd.http2_frames import BrokenFrame
from aio_apiserver.storage.kv.etcd.http2_headers import HeaderDecoder, Headers
from aio_apiserver.storage.kv.etcd.http2_sending import StreamSender

WINDOW = 1024 * 1024
"""Bytes that the server may send ahead on a stream: the event loop reads them in some milliseconds."""
_CONNECTION_WINDOW = 64 * WINDOW
"""Streams hold the server back; the connection does not, so that streams cannot block each other."""
_LAST_STREAM = 2**31 - 3
_PING = b"silence?"
_PONG_SECONDS = 0.002
"""The most time that the answer to a PING waits for a request, which it goes out with. etcd measures bandwidth with a
PING for every few requests, and a write of its own takes longer than a request.
"""


class Receiver(Protocol):
    """The reader of one stream."""

    def take_headers(self, headers: Headers) -> None: ...

    def take_data(self, data: bytes) -> None: ...

    def end(self) -> None:
        """The server has ended the stream."""
        ...

    def fail(self, reason: str, *, was_sent: bool) -> None:
        """The stream has broken. Without `was_sent`, the server has not acted on it."""
        ...

    def retire(self) -> None:
        """The server takes no new streams on this connection; this one may go on."""
        ...


class Http2Connection(asyncio.Protocol):
    """The protocol of one connection. ready: done when the server has shown that it speaks HTTP/2."""

    def __init__(self, *, keepalive: float, keepalive_timeout: float) -> None:
        self._loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = self._loop.create_future()
        self._keepalive, self._keepalive_timeout = keepalive, keepalive_timeout
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._outgoing: list[bytes] = []
        self._pongs: list[bytes] = []
        """Answers to PINGs, for the next write."""
        self._headers = HeaderDecoder()
        self._receivers: dict[int, Receiver] = {}
        self._sender = StreamSender(self._write)
        self._next_stream = 1
        self._ungranted = 0
        self._block: tuple[int, int, bytes] | None = None
        self._is_going = False
        self._has_ended = False
        self._timer: asyncio.TimerHandle | None = None
        self._received_at = 0.0
        self._is_probed = False

    @property
    def is_usable(self) -> bool:
        """Whether new streams can be opened."""
        return not self._is_going

    def open(self, headers: bytes, receiver: Receiver) -> int:
        """Open a stream with this block of headers; returns its number."""
        number = self._begin(receiver)
        self._sender.open(number, headers)
        return number

    def request(self, headers: bytes, data: bytes, receiver: Receiver) -> int:
        """Open a stream, and send all of its data; returns its number."""
        number = self._begin(receiver)
        self._sender.request(number, headers, data)
        return number

    def send(self, number: int, data: bytes, *, is_last: bool = False) -> None:
        """Send on a stream, as soon as the server's windows permit; after the end of the stream, nothing is sent."""
        if number in self._receivers:
            self._sender.send(number, data, is_last=is_last)

    def grant(self, number: int, size: int) -> None:
        """Let the server send so many more bytes on a stream."""
        if number in self._receivers:
            self._write(frames.window_update(number, size))

    def flush(self) -> None:
        """Send now what otherwise goes out together with the rest of this turn of the event loop."""
        outgoing, self._outgoing = self._outgoing, []
        if self._pongs:
            outgoing, self._pongs = [*self._pongs, *outgoing], []
        if outgoing and self._transport is not None and not self._has_ended:
            self._transport.write(b"".join(outgoing))

    def cancel(self, number: int) -> None:
        """Give a stream up; its receiver gets nothing more."""
        if self._receivers.pop(number, None) is not None:
            self._sender.cancel(number)
            self._leave_when_idle()

    def close(self, reason: str = "the connection was given up") -> None:
        """End the connection; receivers get the reason."""
        if self._has_ended:
            return
        self._has_ended = self._is_going = True
        if not self.ready.done():
            self.ready.set_exception(ConnectionError(reason))
            self.ready.exception()  # a waiter may have left: asyncio need not report it
        if self._timer is not None:
            self._timer.cancel()
        if self._transport is not None:
            self._transport.abort()
        receivers, self._receivers = self._receivers, {}
        for number, receiver in receivers.items():
            receiver.fail(reason, was_sent=self._sender.has_begun(number))

    def _begin(self, receiver: Receiver) -> int:
        number = self._next_stream
        self._next_stream += 2
        self._receivers[number] = receiver
        if number >= _LAST_STREAM:
            self._is_going = True
        return number

    # The transport's events

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are no subclasses
        self._transport.set_write_buffer_limits(high=0)  # else uvloop's write waits for the end of the turn
        self._write(frames.PREFACE)
        self._write(frames.settings({frames.ENABLE_PUSH: 0, frames.INITIAL_WINDOW_SIZE: WINDOW}))
        self._write(frames.window_update(0, _CONNECTION_WINDOW))
        self._received_at = self._loop.time()
        self._watch_silence()

    def data_received(self, data: bytes) -> None:
        self._received_at, self._is_probed = self._loop.time(), False
        self._received += data
        try:
            for kind, flags, number, payload in frames.cut(self._received):
                if not self.ready.done() and kind != frames.SETTINGS:
                    raise BrokenFrame("the first frame is none of settings")
                if self._block is not None and kind != frames.CONTINUATION:
                    raise BrokenFrame("a header block was broken off")
                take = _TAKEN.get(kind)
                if take is not None:
                    take(self, flags, number, payload)
        except BrokenFrame as error:
            self.close(f"the server does not speak HTTP/2: {error}")

    def connection_lost(self, exc: Exception | None) -> None:
        self.close(f"the connection was lost: {exc or 'the server has closed it'}")

    # The frames of the server

    def _take_data(self, flags: int, number: int, payload: bytes) -> None:
        self._ungranted += len(payload)
        if self._ungranted > _CONNECTION_WINDOW // 2:
            self._write(frames.window_update(0, self._ungranted))
            self._ungranted = 0
        receiver = self._receiver_of(number)
        if receiver is None:
            return
        data = frames.content(flags, payload)
        if len(data) < len(payload):
            self.grant(number, len(payload) - len(data))
        receiver.take_data(data)
        if flags & frames.END_STREAM:
            self._end(number)

    def _take_headers(self, flags: int, number: int, payload: bytes) -> None:
        block = frames.content(flags, payload)
        self._take_block(flags, number, block[5:] if flags & frames.PRIORITY else block)

    def _take_continuation(self, flags: int, number: int, payload: bytes) -> None:
        if self._block is None or self._block[1] != number:
            raise BrokenFrame("a header block without a beginning")
        first_flags, _, begun = self._block
        self._block = None
        self._take_block(first_flags & ~frames.END_HEADERS | flags & frames.END_HEADERS, number, begun + payload)

    def _take_block(self, flags: int, number: int, block: bytes) -> None:
        if not flags & frames.END_HEADERS:
            if len(block) > WINDOW:
                raise BrokenFrame("a header block without an end")
            self._block = (flags, number, block)
            return
        headers = self._headers.decode(block)  # of cancelled streams, too: they change the decoder's table
        receiver = self._receiver_of(number)
        if receiver is not None:
            receiver.take_headers(headers)
            if flags & frames.END_STREAM:
                self._end(number)

    def _take_reset(self, _flags: int, number: int, payload: bytes) -> None:
        code = frames.number_at(payload)
        self._break(number, f"the server broke the stream off, code {code}", was_sent=code != frames.REFUSED_STREAM)

    def _take_push(self, _flags: int, _number: int, _payload: bytes) -> None:
        raise BrokenFrame("a pushed response")

    def _take_settings(self, flags: int, _number: int, payload: bytes) -> None:
        if flags & frames.ACK:
            return
        for name, value in frames.settings_in(payload):
            change = _SETTINGS.get(name)
            if change is not None:
                change(self._sender, value)
        self._write(frames.frame(frames.SETTINGS, frames.ACK, 0, b""))
        if not self.ready.done():
            self.ready.set_result(None)
        self._sender.go_on()

    def _take_ping(self, flags: int, _number: int, payload: bytes) -> None:
        if flags & frames.ACK:
            return
        if not self._pongs:
            self._loop.call_later(_PONG_SECONDS, self.flush)
        self._pongs.append(frames.frame(frames.PING, frames.ACK, 0, payload))

    def _take_goaway(self, _flags: int, _number: int, payload: bytes) -> None:
        self._is_going = True
        last, code = frames.number_at(payload), frames.number_at(payload, 4)
        reason = f"the server has ended the connection, code {code}"
        for number in list(self._receivers):
            if number > last or not self._sender.has_begun(number):
                self._break(number, reason, was_sent=False)
        for receiver in list(self._receivers.values()):
            receiver.retire()
        self._leave_when_idle()

    def _take_window(self, _flags: int, number: int, payload: bytes) -> None:
        self._sender.widen(number, frames.number_at(payload))

    def _write(self, data: bytes) -> None:
        if not self._outgoing:
            self._loop.call_soon(self.flush)
        self._outgoing.append(data)

    def _receiver_of(self, number: int) -> Receiver | None:
        """The reader of a stream; None when it was cancelled. Raises BrokenFrame."""
        if not number:
            raise BrokenFrame("a frame of no stream")
        return self._receivers.get(number)

    def _end(self, number: int) -> None:
        receiver = self._receivers.pop(number)
        self._sender.close(number)
        receiver.end()
        self._leave_when_idle()

    def _break(self, number: int, reason: str, *, was_sent: bool) -> None:
        receiver = self._receivers.pop(number, None)
        if receiver is not None:
            self._sender.close(number)
            receiver.fail(reason, was_sent=was_sent)
            self._leave_when_idle()

    def _leave_when_idle(self) -> None:
        if self._is_going and not self._receivers and not self._has_ended:
            self._loop.call_soon(self.close)

    def _watch_silence(self) -> None:
        """Send a PING after a silence of the server while streams are open, and end the connection when the answer does
        not come either.
        """
        if self._is_probed:
            self.close("keepalive: the server has gone silent")
            return
        now = self._loop.time()
        if not self._receivers:
            self._received_at = now  # etcd disconnects those who probe idle connections
        wait = self._received_at + self._keepalive - now
        if wait <= 0:
            self._is_probed, wait = True, self._keepalive_timeout
            self._write(frames.frame(frames.PING, 0, 0, _PING))
        self._timer = self._loop.call_later(wait, self._watch_silence)


_TAKEN: Mapping[int, Callable[[Http2Connection, int, int, bytes], None]] = {
    frames.DATA: Http2Connection._take_data,
    frames.HEADERS: Http2Connection._take_headers,
    frames.CONTINUATION: Http2Connection._take_continuation,
    frames.RST_STREAM: Http2Connection._take_reset,
    frames.SETTINGS: Http2Connection._take_settings,
    frames.PUSH_PROMISE: Http2Connection._take_push,
    frames.PING: Http2Connection._take_ping,
    frames.GOAWAY: Http2Connection._take_goaway,
    frames.WINDOW_UPDATE: Http2Connection._take_window,
}
_SETTINGS: Mapping[int, Callable[[StreamSender, int], None]] = {
    frames.INITIAL_WINDOW_SIZE: StreamSender.set_window,
    frames.MAX_FRAME_SIZE: StreamSender.set_frame_size,
    frames.MAX_CONCURRENT_STREAMS: StreamSender.set_most_streams,
}
