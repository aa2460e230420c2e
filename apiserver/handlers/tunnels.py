"""Tunnels: upgraded connections (SPDY, WebSocket) for exec, attach and portforward, copied in both directions.

Must hold: when one end closes or resets its connection, both are closed, and no error is logged. A side that does not
read stops the other side from sending.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, cast

from aiohttp import hdrs, web

from aio_apiserver.apiserver.outgoing import forwarded_headers
from aio_apiserver.apiserver.outgoing.forwarded_headers import Forwarding
from aio_apiserver.apiserver.outgoing.relay_client import RelayClient, Unreachable
from aio_apiserver.apiserver.outgoing.upgrades import UpgradeAnswer
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.locations import Location

_CHUNK = 64 * 1024

Drain = Callable[[], Awaitable[None]]
"""Waits until the client has read enough."""


async def stream(
    request: web.BaseRequest, context: RequestContext, location: Location, backends: RelayClient
) -> web.StreamResponse:
    """Forward an upgrade request. Raises BadRequest for a request without an upgrade."""
    if not forwarded_headers.is_upgrade(request):
        raise errors.BadRequest("Upgrade request required")
    return await pass_on(request, context, location, backends)


async def pass_on(
    request: web.BaseRequest, context: RequestContext, location: Location, backends: RelayClient
) -> web.StreamResponse:
    """Forward the upgrade request to the backend, and connect both sides if it accepts."""
    try:
        async with backends.upgrade(request, location) as answer:
            if answer.status == 101:
                return await _connect(request, context, answer, backends.forwarding)
            if answer.status < 400:
                raise StatusError(f"invalid upgrade response: status code {answer.status}")
            body = await answer.refusal()
            return _refused(context, answer, backends.forwarding, body)
    except (Unreachable, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as exc:
        raise StatusError(f"error dialing backend: {exc}") from exc


def _refused(context: RequestContext, answer: UpgradeAnswer, rule: Forwarding, body: bytes) -> web.Response:
    """The backend's refusal with the part of its body that came."""
    headers = rule.headers_back(answer.headers)
    headers.popall(hdrs.CONTENT_LENGTH, None)
    headers["Audit-Id"] = context.audit_id
    return web.Response(status=answer.status, headers=headers, body=body)


def _agreed(context: RequestContext, answer: UpgradeAnswer, rule: Forwarding) -> web.StreamResponse:
    """The backend's agreement."""
    headers = rule.headers_back(answer.headers)
    headers[hdrs.CONNECTION] = "Upgrade"
    headers[hdrs.UPGRADE] = answer.headers.get(hdrs.UPGRADE, "")
    headers["Audit-Id"] = context.audit_id
    return web.StreamResponse(status=answer.status, headers=headers)


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
    request: web.BaseRequest, context: RequestContext, answer: UpgradeAnswer, rule: Forwarding
) -> web.StreamResponse:
    """Send the backend's response head, and copy until one side ends."""
    reader, writer = answer.streams
    response = _agreed(context, answer, rule)
    response.force_close()
    transport = request.transport
    if transport is None:
        return response
    tasks = Tasks()
    incoming = _Incoming(writer, transport, tasks)
    request.protocol.set_parser(cast("Any", incoming))
    try:
        await context.started(response.status)
        to_client = await response.prepare(request)
        assert to_client is not None
        sending = tasks.spawn(_copy(reader, transport, to_client.drain), name="tunnel")
        ending = tasks.spawn(incoming.ended.wait(), name="tunnel")
        await asyncio.wait((sending, ending), return_when=asyncio.FIRST_COMPLETED)
    finally:
        await tasks.close()
    return response


async def _copy(reader: asyncio.StreamReader, transport: asyncio.Transport, drain: Drain) -> None:
    """Copy until one side closes or resets its connection."""
    with suppress(OSError):
        while chunk := await reader.read(_CHUNK):
            if transport.is_closing():
                return
            transport.write(chunk)
            await drain()
