"""SPDY streams: the streams of a container over an upgraded SPDY/3.1 connection.

The client opens each stream with a header `streamtype`; for port-forward also with `port` and `requestid`. Must hold:
each stream is answered with SYN_REPLY before anything is sent on it. A client that sends many small frames waits, and
one that does not read its answers is not read.
"""

import asyncio
import struct
import zlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from itertools import islice
from typing import Any, cast

import orjson
from aiohttp import web

from aio_apiserver.apiserver.simulated_kubelet import spdy_frames
from aio_apiserver.apiserver.simulated_kubelet.channels import ERROR, RESIZE, STDERR, STDIN, STDOUT
from aio_apiserver.apiserver.simulated_kubelet.input_queues import InputQueue
from aio_apiserver.apiserver.simulated_kubelet.spdy_frames import (
    DATA,
    GO_AWAY,
    PING,
    PROTOCOL_ERROR,
    REFUSED_STREAM,
    RESET,
    SYN_STREAM,
    SPDYFrame,
    SPDYFrames,
)
from aio_apiserver.base.unstructured import Object

_TYPES = {"stdin": STDIN, "stdout": STDOUT, "stderr": STDERR, "error": ERROR, "resize": RESIZE}
_CLOSE_SECONDS = 1.0
_MOST_STREAMS = 256
"""The open streams of a connection."""
_BYTES_OF_A_PING = 4
_FRAMES_A_TURN, _PAUSE_SECONDS = 64, 0.01
"""After so many frames, the connection is left for a while."""
PORT_FORWARD = "portforward.k8s.io"
EXEC = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_VERSION_HEADER = "X-Stream-Protocol-Version"
ChannelOf = Callable[[Mapping[str, str]], int | None]
IsInput = Callable[[int], bool]


def is_input(channel: int) -> bool:
    """Whether the program of exec and attach reads a channel."""
    return channel in (STDIN, RESIZE)


def channel_of(headers: Mapping[str, str]) -> int | None:
    """The channel of a stream for exec and attach."""
    return _TYPES.get(headers.get("streamtype", ""))


class SPDYStreams:
    """One connection. It takes the place of aiohttp's parser."""

    def __init__(
        self,
        request: web.BaseRequest,
        response: web.StreamResponse,
        named: ChannelOf,
        is_input: IsInput,
        newest: Collection[int],
    ) -> None:
        transport = request.transport
        assert transport is not None
        self.response = response
        self._opened: asyncio.Queue[int] = asyncio.Queue()
        self._transport = transport
        self._drain: Callable[[], Awaitable[None]] | None = None
        self._named = named
        self._is_input = is_input
        self._newest = newest
        self._frames = SPDYFrames()
        self._last = 0
        """The number of the newest stream. Those of later ones are higher."""
        self._streams: dict[int, int] = {}
        """The stream of each open channel."""
        self._channels: dict[int, int] = {}
        """The channel of each open stream."""
        self._queues: dict[int, InputQueue] = {}
        self._has_ended = asyncio.Event()
        self._is_full = False
        """Whether a program has to read before more is taken from the client."""
        self._is_resting = False
        """Whether frames wait until other connections had their turn."""

    @classmethod
    async def accept(
        cls,
        request: web.BaseRequest,
        protocols: tuple[str, ...],
        named: ChannelOf,
        is_input: IsInput,
        *,
        newest: Collection[int] = (),
    ) -> "SPDYStreams":
        """Upgrade the connection. named: the channel of a stream by its headers. is_input: whether a program reads a
        channel. newest: the channels on which the last bytes alone count.

        Raises ValueError when the client offers no known protocol.
        """
        offered = [one.strip() for text in request.headers.getall(_VERSION_HEADER, ()) for one in text.split(",")]
        chosen = next((one for one in protocols if one in offered), None)
        if chosen is None:
            raise ValueError(f"unable to negotiate protocol: client supports {offered}")
        headers = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1", _VERSION_HEADER: chosen}
        response = web.StreamResponse(status=101, headers=headers)
        response.force_close()
        made = cls(request, response, named, is_input, newest)
        request.protocol.set_parser(cast("Any", made))
        writer = await response.prepare(request)
        made._drain = writer.drain if writer is not None else None
        return made

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Called by the connection."""
        self._frames.feed(data)
        self._work()
        return False, b""

    def _work(self) -> None:
        """Take the frames that have arrived. After many, the client and the other frames wait."""
        answers, count = bytearray(), 0
        frames = islice(self._frames.read(), _FRAMES_A_TURN)
        try:
            while self._may_read() and (frame := next(frames, None)) is not None:
                count += 1
                answers += self._take(frame)
        except (ValueError, zlib.error, struct.error):
            self._transport.close()
            return
        if answers:
            self._transport.write(bytes(answers))
        if count == _FRAMES_A_TURN:
            self._rest()

    def _may_read(self) -> bool:
        return not (self._is_full or self._is_resting or self._transport.is_closing())

    def _rest(self) -> None:
        self._is_resting = True
        self._transport.pause_reading()
        asyncio.get_running_loop().call_later(_PAUSE_SECONDS, self._end_rest)

    def _end_rest(self) -> None:
        """Go on, unless the client has not read its answers."""
        if self._transport.is_closing():
            return
        if self._transport.get_write_buffer_size() > self._transport.get_write_buffer_limits()[1]:
            self._rest()
            return
        self._is_resting = False
        self._work()
        self._resume()

    def _resume(self) -> None:
        """Read from the client again, unless a program has to read first."""
        if self._may_read():
            self._transport.resume_reading()

    def feed_eof(self) -> None:
        self._end()

    def set_exception(self, _exc: BaseException, _cause: BaseException | None = None) -> None:
        self._end()

    def _end(self) -> None:
        self._has_ended.set()
        for queue in self._queues.values():
            queue.feed(b"")

    def _take(self, frame: SPDYFrame) -> bytes:
        """Take a frame. Returns the answer."""
        if frame.kind == SYN_STREAM:
            return self._open(frame)
        if frame.kind == PING:
            return spdy_frames.control(PING, frame.data[:_BYTES_OF_A_PING])
        if frame.kind in (DATA, RESET):
            self._put(frame)
        elif frame.kind == GO_AWAY:
            self._end()
        return b""

    def _open(self, frame: SPDYFrame) -> bytes:
        """Open a stream, or refuse it."""
        if frame.stream <= self._last:
            return spdy_frames.reset(frame.stream, PROTOCOL_ERROR)
        self._last = frame.stream
        if len(self._channels) >= _MOST_STREAMS:
            return spdy_frames.reset(frame.stream, REFUSED_STREAM)
        channel = self._named(frame.headers)
        if channel in self._streams:
            return spdy_frames.reset(frame.stream, PROTOCOL_ERROR)
        if channel is not None:
            self._streams[channel], self._channels[frame.stream] = frame.stream, channel
            self._queue(channel)
            self._opened.put_nowait(channel)
        return self._frames.reply(frame.stream)

    def _put(self, frame: SPDYFrame) -> None:
        channel = self._channels.get(frame.stream)
        if channel is None or not self._is_input(channel):
            return  # nothing reads it
        if frame.kind == DATA and frame.data:
            self._queue(channel).feed(frame.data)
            self._limit(channel)
        if frame.is_last or frame.kind == RESET:
            self._queue(channel).feed(b"")

    def _limit(self, channel: int) -> None:
        """Stop reading from the client until the program has read."""
        if not self._is_full and self._queue(channel).is_full:
            self._is_full = True
            self._transport.pause_reading()

    def _queue(self, channel: int) -> InputQueue:
        return self._queues.setdefault(channel, InputQueue(keeps_newest=channel in self._newest))

    async def read(self, channel: int = STDIN) -> bytes:
        """The next bytes of a channel; empty at its end."""
        data = await self._queue(channel).read()
        if self._is_full and not any(queue.is_full for queue in self._queues.values()):
            self._is_full = False
            self._work()
            self._resume()
        return data

    async def write(self, channel: int, data: bytes, *, is_last: bool = False) -> None:
        """Send bytes on a channel that the client has opened."""
        stream = self._streams.get(channel)
        if stream is not None and not self._transport.is_closing() and (data or is_last):
            self._transport.write(spdy_frames.data_frame(stream, data, is_last=is_last))
            await asyncio.sleep(0)
            if self._drain is not None:
                await self._drain()

    async def finish(self, status: Object) -> None:
        """Send the result of a program, and close."""
        await self.write(ERROR, orjson.dumps(status), is_last=True)
        for channel in (STDOUT, STDERR):
            await self.write(channel, b"", is_last=True)
        await self._has_ended_soon()
        self._transport.close()

    async def _has_ended_soon(self) -> None:
        """Give the client time to close the connection first."""
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._has_ended.wait()
        except TimeoutError:
            return

    async def next_channel(self) -> int:
        """The next channel that the client opens."""
        return await self._opened.get()

    async def end(self, channel: int) -> None:
        """End the bytes of a channel, and forget it."""
        await self.write(channel, b"", is_last=True)
        self._queues.pop(channel, None)
        self._channels.pop(self._streams.pop(channel, 0), None)

    async def receive(self) -> None:
        """Return when the client has closed the connection."""
        await self._has_ended.wait()
