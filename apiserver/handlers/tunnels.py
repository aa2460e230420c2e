"""Tunnels: upgraded connections (SPDY, WebSocket) for exec, attach and portforward, copied in both directions.

Must hold: when one end closes, both are closed. A side that does not read stops the other side from sending.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

from aiohttp import hdrs, web
from multidict import CIMultiDict

from aio_apiserver.apiserver.outgoing import forwarding
from aio_apiserver.apiserver.outgoing.backends import Servers, Unreachable
from aio_apiserver.apiserver.outgoing.forwarding import Forwarding, Relay
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.locations import Location, Passage
from aio_apiserver.storage.tasks import Tasks

_CHUNK = 64 * 1024
_MOST_OF_HEAD = 64 * 1024
_LARGEST_REFUSAL = 1024 * 1024
_REFUSAL_SECONDS = 10


async def stream(
    request: web.BaseRequest, context: RequestContext, location: Location, backends: Servers
) -> web.StreamResponse:
    """Forward an upgrade request. Raises BadRequest for a request without an upgrade."""
    if not forwarding.is_upgrade(request):
        raise errors.BadRequest("Upgrade request required")
    return await pass_on(request, context, location, backends)


async def pass_on(
    request: web.BaseRequest, context: RequestContext, location: Location, backends: Servers
) -> web.StreamResponse:
    """Forward the upgrade request to the backend, and connect both sides if it accepts."""
    try:
        reader, writer = await backends.open(location)
    except Unreachable as exc:
        raise StatusError(f"error dialing backend: {exc}") from exc
    try:
        writer.write(_head(request, location, backends.forwarding))
        status, headers = await _answer(reader)
        if status == 101:
            return await _connect(request, context, headers, (reader, writer))
        if status < 400:
            raise StatusError(f"invalid upgrade response: status code {status}")
        body = await _refusal(reader, headers)
        return web.Response(status=status, headers=_passed_on(headers), body=body)
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as exc:
        raise StatusError(f"error dialing backend: {exc}") from exc
    finally:
        writer.close()


def _head(request: web.BaseRequest, location: Location, rule: Forwarding) -> bytes:
    """The forwarded request head."""
    url = forwarding.url_of(location, request.raw_path.partition("?")[2])
    target = url.removeprefix(f"{location.scheme}://{location.authority}") or "/"
    relay = Relay.STREAM if location.passage is Passage.STREAM else Relay.UPGRADE
    headers = rule.headers_of(request, relay, added=location.headers)
    lines = [f"{request.method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode(errors="surrogateescape")


async def _answer(reader: asyncio.StreamReader) -> tuple[int, CIMultiDict[str]]:
    """The status and headers of the backend's response. Raises StatusError when it is not HTTP."""
    head = (await reader.readuntil(b"\r\n\r\n"))[:_MOST_OF_HEAD].decode("latin-1")
    first, *lines = head.split("\r\n")
    words = first.split(" ", 2)
    if len(words) < 2 or not words[0].startswith("HTTP/") or not words[1].isdigit():
        raise StatusError("malformed HTTP response")
    pairs = (line.partition(":") for line in lines if ":" in line)
    return int(words[1]), CIMultiDict((name.strip(), value.strip()) for name, _, value in pairs)


async def _refusal(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    """The body of a refusal, as far as it arrives within the time limit."""
    length = headers.get(hdrs.CONTENT_LENGTH, "")
    wanted = min(int(length), _LARGEST_REFUSAL) if length.isdigit() else _LARGEST_REFUSAL
    body = bytearray()
    try:
        async with asyncio.timeout(_REFUSAL_SECONDS):
            while len(body) < wanted and (chunk := await reader.read(wanted - len(body))):
                body += chunk
    except TimeoutError:
        pass
    return bytes(body)


def _passed_on(headers: CIMultiDict[str]) -> CIMultiDict[str]:
    dropped = {"connection", "content-length", "transfer-encoding", "upgrade"}
    return CIMultiDict((name, value) for name, value in headers.items() if name.lower() not in dropped)


class _Incoming:
    """Takes the place of aiohttp's parser, and sends the bytes of the client to the backend."""

    def __init__(self, writer: asyncio.StreamWriter, transport: asyncio.Transport, tasks: Tasks) -> None:
        self._writer = writer
        self._transport = transport
        self._tasks = tasks
        self._is_waiting = False
        self.ended = asyncio.Event()

    def feed_data(self, data: bytes) -> tuple[bool, bytes]:
        self._writer.write(data)
        if not self._is_waiting and self._is_full():
            self._is_waiting = True
            self._transport.pause_reading()
            self._tasks.spawn(self._resume(), name="tunnel")
        return False, b""

    def feed_eof(self) -> None:
        self.ended.set()

    def set_exception(self, _exc: BaseException, _cause: BaseException | None = None) -> None:
        self.ended.set()

    def _is_full(self) -> bool:
        transport = self._writer.transport
        return transport.get_write_buffer_size() > transport.get_write_buffer_limits()[1]

    async def _resume(self) -> None:
        try:
            await self._writer.drain()
        except OSError:
            self.ended.set()
            return
        self._is_waiting = False
        self._transport.resume_reading()


async def _connect(
    request: web.BaseRequest,
    context: RequestContext,
    headers: CIMultiDict[str],
    backend: tuple[asyncio.StreamReader, asyncio.StreamWriter],
) -> web.StreamResponse:
    """Send the backend's response head, and copy until one side ends."""
    reader, writer = backend
    response = web.StreamResponse(status=101, headers=headers)
    response.headers.setdefault("Audit-Id", context.audit_id)
    response.force_close()
    transport = request.transport
    if transport is None:
        return response
    tasks = Tasks()
    incoming = _Incoming(writer, transport, tasks)
    request.protocol.set_parser(cast("Any", incoming))
    try:
        await context.started(response.status)
        await response.prepare(request)
        sending = tasks.spawn(_copy(reader, request, transport), name="tunnel")
        ending = tasks.spawn(incoming.ended.wait(), name="tunnel")
        await asyncio.wait((sending, ending), return_when=asyncio.FIRST_COMPLETED)
    finally:
        await tasks.close()
    return response


async def _copy(reader: asyncio.StreamReader, request: web.BaseRequest, transport: asyncio.Transport) -> None:
    while chunk := await reader.read(_CHUNK):
        if transport.is_closing():
            return
        transport.write(chunk)
        await request.protocol._drain_helper()
