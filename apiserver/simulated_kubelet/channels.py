"""Channels: the streams of a container over a WebSocket, in the protocols v4 and v5 of channel.k8s.io.

A binary message is a channel number and data:

    0 stdin   1 stdout   2 stderr   3 error: a Status at the end   4 resize: {"Width": 80, "Height": 24}
    255 with a channel number: the client closes that channel (v5)

For port-forward the channels 2n and 2n + 1 are the data and the error of the n-th port. Must hold: a client that does
not read stops the program from writing. One that sends many small messages waits.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import suppress
from typing import Any, Protocol

import orjson
from aiohttp import web

from aio_apiserver.apiserver.simulated_kubelet.input_queues import InputQueue
from aio_apiserver.base.unstructured import Object

STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255
PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_MESSAGE_LIMIT = 4 * 1024 * 1024
_CLOSE_SECONDS = 1.0
_MESSAGES_A_TURN, _PAUSE_SECONDS = 64, 0.01
"""After so many messages, pings among them, the client waits for a while."""
_CONTENTS = (web.WSMsgType.TEXT, web.WSMsgType.BINARY)
_CONTROLS = (web.WSMsgType.PING, web.WSMsgType.PONG)


class ContainerStreams(Protocol):
    """The streams of a container, for every protocol. The data of a channel end with empty bytes."""

    @property
    def response(self) -> web.StreamResponse:
        """The response to the request that was upgraded."""
        ...

    async def read(self, channel: int = STDIN) -> bytes:
        """The next bytes of a channel."""
        ...

    async def write(self, channel: int, data: bytes) -> None:
        """Send bytes on a channel."""
        ...

    async def finish(self, status: Object) -> None:
        """Send the result of a program, and close."""
        ...

    async def receive(self) -> None:
        """Take the bytes of the client until it goes."""
        ...


class Channels:
    """One WebSocket."""

    def __init__(self, socket: web.WebSocketResponse, inputs: Sequence[int], newest: Collection[int]) -> None:
        self._socket = socket
        self._queues = {one: InputQueue(keeps_newest=one in newest) for one in inputs}

    @property
    def response(self) -> web.WebSocketResponse:
        """The response of the request that became the WebSocket."""
        return self._socket

    @classmethod
    async def accept(
        cls, request: web.BaseRequest, inputs: Sequence[int], *, newest: Collection[int] = ()
    ) -> "Channels":
        """Do the handshake. newest: the channels on which the last message alone counts."""
        socket = web.WebSocketResponse(
            protocols=PROTOCOLS, max_msg_size=_MESSAGE_LIMIT, compress=False, timeout=_CLOSE_SECONDS, autoping=False
        )
        await socket.prepare(request)
        return cls(socket, inputs, newest)

    async def read(self, channel: int = STDIN) -> bytes:
        """The next bytes of a channel; empty at its end."""
        return await self._queues[channel].read() if channel in self._queues else b""

    async def write(self, channel: int, data: bytes) -> None:
        """Send bytes. A client that has gone gets none."""
        if not self._socket.closed:
            await self._socket.send_bytes(bytes((channel,)) + data)

    async def finish(self, status: Object) -> None:
        """Send the result of a program, and close."""
        await self.write(ERROR, orjson.dumps(status))
        await self.close()

    async def close(self) -> None:
        await self._socket.close()

    async def receive(self) -> None:
        """Take the messages of the client until it closes the WebSocket."""
        async for message in _messages(self._socket):
            data = message.data.encode() if message.type is web.WSMsgType.TEXT else bytes(message.data or b"")
            if data[:1] == bytes((CLOSE,)) and len(data) > 1:
                await self._put(data[1], b"")
            elif len(data) > 1:
                await self._put(data[0], data[1:])
        for queue in self._queues.values():
            queue.feed(b"")

    async def _put(self, channel: int, data: bytes) -> None:
        queue = self._queues.get(channel)
        if queue is not None:
            queue.feed(data)
            await queue.has_room()


async def _messages(socket: web.WebSocketResponse) -> AsyncIterator[Any]:
    """The WSMessages of the client until it closes the socket or disconnects. Pings are answered."""
    left = _MESSAGES_A_TURN
    while (message := await socket.receive()).type in (*_CONTENTS, *_CONTROLS):
        if message.type in _CONTENTS:
            yield message
        elif message.type is web.WSMsgType.PING:
            with suppress(ConnectionError):
                await socket.pong(message.data)
        left -= 1
        if not left:
            await asyncio.sleep(_PAUSE_SECONDS)
            left = _MESSAGES_A_TURN


def succeeded() -> Object:
    """The Status of a program that ended with 0."""
    return {"metadata": {}, "status": "Success"}


def ended(code: int) -> Object:
    """The Status of a program by its exit code."""
    if code == 0:
        return succeeded()
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }
