"""Webhooks over real HTTPS."""

import base64
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from apiserver.conversion_webhooks import ConversionWebhooks
from registry.customresources.conversion import WebhookFailed
from tests.storage.kv.certificates import Authority

Handle = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def webhook(authority: Authority, handle: Handle) -> AsyncIterator[str]:
    """The URL of a webhook."""
    files = authority.issue("webhook")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
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


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


def trusted(authority: Authority) -> str:
    return base64.b64encode(authority.file.read_bytes()).decode()


async def nowhere(namespace: str, name: str) -> str:
    raise WebhookFailed(f'service "{name}" not found')


async def ask(url: str, authorities: str, *, seconds: float = 5) -> Any:
    return await ConversionWebhooks(nowhere)({"url": url, "caBundle": authorities}, {"question": 1}, seconds=seconds)


async def test_it_is_asked_and_answers(authority: Authority) -> None:
    asked: list[Any] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        asked.append((request.path_qs, request.headers["Content-Type"], await request.json()))
        return web.json_response({"answer": 2})

    async with webhook(authority, answer) as url:
        found = await ask(url, trusted(authority))

    assert found == {"answer": 2}
    assert asked == [("/convert?timeout=5s", "application/json", {"question": 1})]


async def test_one_that_is_not_trusted_is_not_asked(authority: Authority, tmp_path: Path) -> None:
    asked: list[str] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        asked.append(request.path)
        return web.json_response({})

    other = Authority(tmp_path, "other")
    async with webhook(authority, answer) as url:
        with pytest.raises(WebhookFailed, match="x509: certificate signed by unknown authority"):
            await ask(url, trusted(other))

    assert asked == []


async def test_a_long_answer_is_read_to_its_end_and_an_endless_one_is_not(authority: Authority) -> None:
    sizes = [1024 * 1024, 4 * 1024 * 1024]

    async def answer(request: web.BaseRequest) -> web.Response:
        return web.json_response({"answer": "x" * sizes.pop(0)})

    async with webhook(authority, answer) as url:
        found = await ask(url, trusted(authority))
        with pytest.raises(WebhookFailed, match="too large"):
            await ask(url, trusted(authority))

    assert len(found["answer"]) == 1024 * 1024


async def test_no_redirect_is_followed(authority: Authority) -> None:
    asked: list[str] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        asked.append(request.path)
        return web.Response(status=302, headers={"Location": "/other"}, text="{}")

    async with webhook(authority, answer) as url:
        with pytest.raises(WebhookFailed):
            await ask(url, trusted(authority))

    assert asked == ["/convert"]


async def test_who_does_not_answer_is_not_waited_for(authority: Authority) -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async with webhook(authority, answer) as url:
        with pytest.raises(WebhookFailed, match="Post"):
            await ask(url, trusted(authority))


async def test_one_that_is_not_there_is_told() -> None:
    with pytest.raises(WebhookFailed, match="connect: connection refused"):
        await ask("https://127.0.0.1:1/convert", "")


async def test_a_service_that_is_not_there_is_told() -> None:
    client = {"service": {"namespace": "default", "name": "hook"}}

    with pytest.raises(WebhookFailed, match='service "hook" not found'):
        await ConversionWebhooks(nowhere)(client, {}, seconds=1)
