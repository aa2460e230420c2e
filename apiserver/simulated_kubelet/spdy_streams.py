"""SPDY streams: the streams of a container over an upgraded SPDY/3.1 connection.

The client opens each stream with a header `streamtype`; for port-forward also with `port` and `requestid`. Must hold:
each stream is answered with SYN_REPLY before anything is sent on it.
"""

import asyncio
import struct
import zlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, cast

import orjson
from aiohttp import web

from aio_apiserver.apiserver.simulated_kubelet import spdy_frames
from aio_apiserver.apiserver.simulated_kubelet.channels import ERROR, RESIZE, STDERR, STDIN, STDOUT
from aio_apiserver.apiserver.simulated_kubelet.input_queues import InputQueue
from aio_apiserver.apiserver.simulated_kubelet.spdy_frames import DATA, PING, RESET, SYN_STREAM, SPDYFrame, SPDYFrames
from aio_apiserver.base.unstructured import Object

_TYPES = {"stdin": STDIN, "stdout": STDOUT, "stderr": STDERR, "error": ERROR, "resize": RESIZE}
_CLOSE_SECONDS = 1.0
PORT_FORWARD = "portforward.k8s.io"
EXEC = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_VERSION_HEADER = "X-Stream-Protocol-Version"
ChannelOf = Callable[[Mapping[str, str]], int | None]


def channel_of(headers: Mapping[str, str]) -> int | None:
    """The channel of a stream for exec and attach."""
    return _TYPES.get(headers.get("streamtype", ""))


class SPDYStreams:
    """One connection. It takes the place of aiohttp's parser."""

    def __init__(
        self, request: web.BaseRequest, response: web.StreamResponse, named: ChannelOf, newest: Collection[int]
    ) -> None:
        transport = request.transport
        assert transport is not None
        self.response = response
        self._opened: asyncio.Queue[int] = asyncio.Queue()
        self._transport = transport
        self._drain: Callable[[], Awaitable[None]] | None = None
        self._named = named
        self._newest = newest
        self._frames = SPDYFrames()
        self._streams: dict[int, int] = {}
        """The stream of each channel."""
        self._queues: dict[int, InputQueue] = {}
        self._has_ended = asyncio.Event()
        self._is_full = False
        """Whether a program has to read before more is taken from the client."""

    @classmethod
    async def accept(
        cls,
        request: web.BaseRequest,
        protocols: tuple[str, ...],
        named: ChannelOf,
        *,
        newest: Collection[int] = (),
    ) -> "SPDYStreams":
        """Upgrade the connection. newest: the channels on which the last bytes alone count.

        Raises ValueError when the client offers no known protocol.
        """
        offered = [one.strip() for text in request.headers.getall(_VERSION_HEADER, ()) for one in text.split(",")]
        chosen = next((one for one in protocols if one in offered), None)
        if chosen is None:
            raise ValueError(f"unable to negotiate protocol: client supports {offered}")
        headers = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1", _VERSION_HEADER: chosen}
        response = web.StreamResponse(status=101, headers=headers)
        response.force_close()
        made = cls(request, response, named, newest)
        request.protocol.set_parser(cast("Any", made))
        writer = await response.prepare(request)
        made._drain = writer.drain if writer is not None else None
        return made

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        """Called by the connection."""
        try:
            for frame in self._frames.read(data):
                self._take(frame)
        except (ValueError, zlib.error, struct.error):
            self._transport.close()
        return False, b""

    def feed_eof(self) -> None:
        self._end()

    def set_exception(self, _exc: BaseException, _cause: BaseException | None = None) -> None:
        self._end()

    def _end(self) -> None:
        self._has_ended.set()
        for queue in self._queues.values():
            queue.feed(b"")

    def _take(self, frame: SPDYFrame) -> None:
        if frame.kind == SYN_STREAM:
            channel = self._named(frame.headers)
            self._transport.write(self._frames.reply(frame.stream))
            if channel is not None:
                self._streams[channel] = frame.stream
                self._queue(channel)
                self._opened.put_nowait(channel)
        elif frame.kind == PING:
            self._transport.write(spdy_frames.control(PING, frame.data))
        elif frame.kind in (DATA, RESET):
            self._put(frame)

    def _put(self, frame: SPDYFrame) -> None:
        channel = next((one for one, stream in self._streams.items() if stream == frame.stream), None)
        if channel is None:
            return
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
        is_full = any(queue.is_full for queue in self._queues.values())
        if self._is_full and not is_full and not self._transport.is_closing():
            self._is_full = False
            self._transport.resume_reading()
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
        """End the bytes of a channel."""
        await self.write(channel, b"", is_last=True)

    async def receive(self) -> None:
        """Return when the client has closed the connection."""
        await self._has_ended.wait()
