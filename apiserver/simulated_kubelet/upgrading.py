"""Upgrading: chooses between WebSocket and SPDY for the streams of a request, and waits until they are open."""

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence

from aiohttp import hdrs, web

from aio_apiserver.apiserver.simulated_kubelet import channels, spdy_streams
from aio_apiserver.apiserver.simulated_kubelet.channels import Channels, ContainerStreams
from aio_apiserver.apiserver.simulated_kubelet.spdy_streams import ChannelOf, IsInput, SPDYStreams
from aio_apiserver.apiserver.wire import websockets

_OPEN_SECONDS = 30.0
_SPDY = "spdy/3.1"
_DATA, _ERRORS = "data", "error"
_PORT = re.compile(r"[0-9]{1,5}")
_MOST_PORTS = 100
Query = Mapping[str, Sequence[str]]


class KubeletRefusal(Exception):
    """The kubelet refuses a request."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


async def streams_of(request: web.BaseRequest, query: Query, *, follows_size: bool) -> ContainerStreams:
    """The streams for exec and attach. follows_size: whether the size of the terminal is read.

    Raises KubeletRefusal.
    """
    wanted = {"input": channels.STDIN, "output": channels.STDOUT, "error": channels.STDERR, "tty": channels.RESIZE}
    expected = {channels.ERROR, *(channel for name, channel in wanted.items() if name in query)}
    if "tty" in query:
        expected.discard(channels.STDERR)
    if websockets.is_websocket(request):
        _require_protocol(request)
        inputs = {channels.STDIN, channels.RESIZE} if follows_size else {channels.STDIN}
        made = await Channels.accept(request, sorted(expected & inputs), newest=(channels.RESIZE,))
        await made.write(channels.STDOUT, b"")
        return made
    spdy = await _spdy(
        request, spdy_streams.EXEC, spdy_streams.channel_of, spdy_streams.is_input, newest=(channels.RESIZE,)
    )
    try:
        async with asyncio.timeout(_OPEN_SECONDS):
            while expected:
                expected.discard(await spdy.next_channel())
    except TimeoutError as exc:
        raise KubeletRefusal(408, "timed out waiting for the streams of the client") from exc
    return spdy


def _require_protocol(request: web.BaseRequest) -> None:
    offered = websockets.offered(request)
    if not set(offered) & set(channels.PROTOCOLS):
        raise KubeletRefusal(400, f"none of the WebSocket protocols {', '.join(offered)} is known\n")


async def _spdy(
    request: web.BaseRequest,
    protocols: tuple[str, ...],
    named: ChannelOf,
    is_input: IsInput,
    *,
    newest: Collection[int] = (),
) -> SPDYStreams:
    if request.headers.get(hdrs.UPGRADE, "").lower() != _SPDY:
        raise KubeletRefusal(400, "Upgrade request required: WebSocket or SPDY/3.1\n")
    try:
        return await SPDYStreams.accept(request, protocols, named, is_input, newest=newest)
    except ValueError as exc:
        raise KubeletRefusal(403, str(exc)) from exc


class ForwardedPorts:
    """The forwarded ports of one connection."""

    def __init__(self) -> None:
        self.streams: ContainerStreams
        self._opened: asyncio.Queue[tuple[int, int]] = asyncio.Queue()
        self._spdy: SPDYStreams | None = None
        self._next = 0
        self._requests: dict[str, int] = {}
        """The data channel of each request that has not ended."""
        self._ports: dict[int, int] = {}
        """The ports by data channel."""

    async def accept(self, request: web.BaseRequest, ports: Sequence[int]) -> None:
        """Upgrade the connection. Raises KubeletRefusal."""
        if len(ports) > _MOST_PORTS:
            raise KubeletRefusal(400, f"more than {_MOST_PORTS} ports\n")
        if websockets.is_websocket(request):
            _require_protocol(request)
            made = await Channels.accept(request, range(0, 2 * len(ports), 2))
            self.streams = made
            for index, port in enumerate(ports):
                for channel in (2 * index, 2 * index + 1):
                    await made.write(channel, port.to_bytes(2, "little"))
                self._opened.put_nowait((2 * index, port))
        else:
            protocols = (spdy_streams.PORT_FORWARD,)
            self._spdy = self.streams = await _spdy(request, protocols, self._channel_of, _is_data)

    def _channel_of(self, headers: Mapping[str, str]) -> int | None:
        """The channel of a stream: the two of one request have neighbouring numbers."""
        number, kind = headers.get("port", ""), headers.get("streamtype", "")
        if not _PORT.fullmatch(number) or kind not in (_DATA, _ERRORS):
            return None
        request = headers.get("requestid", "")
        if request not in self._requests:
            self._requests[request], self._next = self._next, self._next + 2
        first = self._requests[request]
        if kind == _DATA:
            self._ports.setdefault(first, int(number))
        return first if kind == _DATA else first + 1

    async def next_opened(self) -> tuple[int, int]:
        """The data channel and the number of the next port that the client opens."""
        while self._spdy is not None:
            channel = await self._spdy.next_channel()
            if _is_data(channel):
                return channel, self._ports[channel]
        return await self._opened.get()

    async def end(self, channel: int) -> None:
        """End both channels of a port."""
        if self._spdy is not None:
            await self._spdy.end(channel + 1)
            await self._spdy.end(channel)
            self._ports.pop(channel, None)
            self._requests = {request: first for request, first in self._requests.items() if first != channel}


def _is_data(channel: int) -> bool:
    return channel % 2 == 0


async def ports_of(request: web.BaseRequest, ports: Sequence[int]) -> ForwardedPorts:
    """The forwarded ports of a request. Raises KubeletRefusal."""
    made = ForwardedPorts()
    await made.accept(request, ports)
    return made
