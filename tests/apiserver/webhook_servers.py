"""Webhooks for tests: real HTTPS servers on loopback, in this process."""

import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from aiohttp import web

from aio_apiserver.registry.generic.webhook_calls import WebhookFailed
from tests.storage.kv.certificates import Authority

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def webhook(
    authority: Authority, handle: Handle, names: Sequence[str] = (), *, wants_certificate: bool = False
) -> AsyncIterator[str]:
    """The URL of a webhook. It may demand a client certificate."""
    files = authority.issue("webhook", names)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    if wants_certificate:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(authority.file)
    runner = web.ServerRunner(web.Server(handle))  # type: ignore[arg-type]
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    try:
        assert site._server is not None
        port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined]
        yield f"https://127.0.0.1:{port}/convert"
    finally:
        await runner.cleanup()


def trusted(authority: Authority) -> str:
    """The CA bundle of an authority."""
    return base64.b64encode(authority.file.read_bytes()).decode()


async def no_service(namespace: str, name: str, port: int) -> str:
    """The address of a missing service."""
    raise WebhookFailed(f'service "{name}" not found')
