"""Typed streams: the streams of a client that types all of its input at once, and keeps the output."""

from collections.abc import Sequence

from aiohttp import web

from aio_apiserver.apiserver.simulated_kubelet.channels import STDIN
from aio_apiserver.base.unstructured import Object


class TypedStreams:
    """ContainerStreams without a connection."""

    def __init__(self, typed: Sequence[bytes]) -> None:
        self._typed = [*typed]
        self.written = b""

    @property
    def response(self) -> web.StreamResponse:
        return web.StreamResponse()

    async def read(self, channel: int = STDIN) -> bytes:
        return self._typed.pop(0) if self._typed else b""

    async def write(self, channel: int, data: bytes) -> None:
        self.written += data

    async def finish(self, status: Object) -> None:
        pass

    async def receive(self) -> None:
        pass
