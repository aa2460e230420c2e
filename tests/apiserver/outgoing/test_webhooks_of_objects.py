"""Admission and conversion webhooks over real HTTPS."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from aio_apiserver.apiserver.metrics.outgoing import OutgoingMetrics
from aio_apiserver.apiserver.outgoing.webhook_credentials import Credential, WebhookCredentials
from aio_apiserver.apiserver.outgoing.webhook_targets import ServiceAddress
from aio_apiserver.apiserver.outgoing.webhooks import WebhookClient
from aio_apiserver.base.clock import SystemClock
from aio_apiserver.base.measures import Counter, Histogram
from aio_apiserver.registry.generic.webhook_calls import OutOfTime, Unusable, WebhookFailed
from tests.apiserver.webhook_servers import no_service, trusted, webhook
from tests.storage.kv.certificates import Authority
from tests.stream_servers import talking


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@asynccontextmanager
async def client_of(address_of: ServiceAddress) -> AsyncIterator[WebhookClient]:
    client = WebhookClient(address_of, SystemClock())
    try:
        yield client
    finally:
        await client.close()


async def ask(url: str, authorities: str, *, seconds: float = 5) -> Any:
    async with client_of(no_service) as client:
        return await client({"url": url, "caBundle": authorities}, {"question": 1}, seconds=seconds)


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


async def test_one_is_trusted_by_its_own_certificate(authority: Authority, tmp_path: Path) -> None:
    async def answer(_request: web.BaseRequest) -> web.Response:
        return web.json_response({"answer": 2})

    async with webhook(authority, answer) as url:
        own = base64.b64encode((tmp_path / "webhook.crt").read_bytes()).decode()
        found = await ask(url, own)

    assert found == {"answer": 2}


async def test_a_bundle_without_certificates_trusts_no_webhook(authority: Authority) -> None:
    async def answer(_request: web.BaseRequest) -> web.Response:
        return web.json_response({})

    async with webhook(authority, answer) as url:
        for bundle in ("IA==", "Zm9v", "!"):
            with pytest.raises(WebhookFailed, match="unable to parse bytes as PEM block"):
                await ask(url, bundle)


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
    where = {"service": {"namespace": "default", "name": "hook"}}

    async with client_of(no_service) as client:
        with pytest.raises(WebhookFailed) as raised:
            await client(where, {}, seconds=1)

    assert str(raised.value) == 'Post "https://hook.default.svc:443/?timeout=1s": service "hook" not found'


async def test_a_service_is_found_at_its_address_and_trusted_by_its_name(authority: Authority) -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        return web.json_response({"host": request.host, "path": request.path})

    async def local(namespace: str, name: str, port: int) -> str:
        return "127.0.0.1"

    async with webhook(authority, answer, names=("hook.default.svc",)) as url, client_of(local) as client:
        port = int(url.split(":")[2].split("/")[0])
        service = {"namespace": "default", "name": "hook", "port": port, "path": "/a//b/"}
        found = await client({"service": service, "caBundle": trusted(authority)}, {}, seconds=5)
        with pytest.raises(WebhookFailed, match=r"certificate is not valid for other\.default\.svc"):
            await client({"service": {**service, "name": "other"}, "caBundle": trusted(authority)}, {}, seconds=5)

    assert found == {"host": f"hook.default.svc:{port}", "path": "/a/b"}


async def test_a_connection_is_kept_and_made_again_when_the_webhook_has_closed_it(authority: Authority) -> None:
    transports: list[Any] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        transports.append(request.transport)
        if len(transports) == 3 and transports[2] is transports[0]:
            transports[2].abort()
        return web.json_response({})

    async with webhook(authority, answer) as url, client_of(no_service) as client:
        for _ in range(3):
            await client({"url": url, "caBundle": trusted(authority)}, {}, seconds=5)

    assert transports[0] is transports[1] is transports[2]
    assert len(transports) == 4
    assert transports[3] is not transports[0]


async def test_one_that_takes_too_long_is_given_up(authority: Authority) -> None:
    asked = asyncio.Event()

    async def answer(request: web.BaseRequest) -> web.Response:
        await asked.wait()
        return web.json_response({})

    async with webhook(authority, answer) as url:
        with pytest.raises(OutOfTime, match=r"timeout=1s\": context deadline exceeded$"):
            await ask(url, trusted(authority), seconds=0.2)
        asked.set()


@pytest.mark.parametrize(
    ("status", "media_type", "body", "told"),
    [
        (500, "application/json", "{}", 'an error on the server ("unknown") has prevented the request from succeeding'),
        (500, "text/plain", " no ", 'an error on the server ("no") has prevented the request from succeeding'),
        (404, "application/json", "{}", "the server could not find the requested resource"),
        (302, "text/html", "", "the server responded with the status code 302 but did not return more information"),
        (403, "text/plain", "go away", "go away"),
        (400, "application/json", '{"kind":"Status","status":"Failure","message":"why"}', "why"),
    ],
)
async def test_no_success_is_told_as_what_it_is(
    authority: Authority, status: int, media_type: str, body: str, told: str
) -> None:
    async def answer(request: web.BaseRequest) -> web.Response:
        return web.Response(status=status, content_type=media_type, text=body)

    async with webhook(authority, answer) as url:
        with pytest.raises(WebhookFailed) as raised:
            await ask(url, trusted(authority))

    assert str(raised.value) == told


async def test_one_that_says_when_to_come_back_is_asked_again(authority: Authority) -> None:
    answers = [web.Response(status=429, headers={"Retry-After": "0"}), web.json_response({"answer": 2})]

    async def answer(request: web.BaseRequest) -> web.Response:
        return answers.pop(0)

    async with webhook(authority, answer) as url:
        found = await ask(url, trusted(authority))

    assert found == {"answer": 2}


async def test_a_bundle_that_cannot_be_read_trusts_no_webhook() -> None:
    with pytest.raises(Unusable, match="unable to load root certificates"):
        await ask("https://127.0.0.1:1/", base64.b64encode(b"no certificate").decode())


async def test_a_server_without_tls_is_told() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await reader.read(1)

    async with talking(answer) as port:
        with pytest.raises(WebhookFailed, match="http: server gave HTTP response to HTTPS client"):
            await ask(f"https://127.0.0.1:{port}/", "")


async def test_a_webhook_is_shown_what_is_meant_for_its_place_by_the_plugin_that_asks(authority: Authority) -> None:
    seen: list[str | None] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        seen.append(request.headers.get("Authorization"))
        return web.json_response({})

    credentials = {"MutatingAdmissionWebhook": WebhookCredentials({"127.0.0.1:1": Credential("no")}, Credential("yes"))}
    client = WebhookClient(no_service, SystemClock(), credentials=credentials)
    async with webhook(authority, answer) as url:
        where = {"url": url, "caBundle": trusted(authority)}
        await client(where, {}, seconds=5, plugin="MutatingAdmissionWebhook")
        await client(where, {}, seconds=5, plugin="ValidatingAdmissionWebhook")
        await client.close()

    assert seen == ["Bearer yes", None]


async def test_a_webhook_may_want_a_certificate(authority: Authority) -> None:
    files = authority.issue("client")
    certificate = files.certificate.read_text() + files.key.read_text()

    async def answer(request: web.BaseRequest) -> web.Response:
        return web.json_response({})

    async with webhook(authority, answer, wants_certificate=True) as url:
        where = {"url": url, "caBundle": trusted(authority)}
        shown = {"p": WebhookCredentials(default=Credential(certificate=certificate))}
        known = WebhookClient(no_service, SystemClock(), credentials=shown)
        found = await known(where, {}, seconds=5, plugin="p")
        with pytest.raises(WebhookFailed):
            await known(where, {}, seconds=5)
        await known.close()

    assert found == {}


async def test_calls_are_recorded_by_where_they_go_and_how_they_end(authority: Authority) -> None:
    metrics = OutgoingMetrics()

    async def answer(_request: web.Request) -> web.Response:
        return web.json_response({})

    async with webhook(authority, answer) as url:
        client = WebhookClient(no_service, SystemClock(), metrics=metrics)
        await client({"url": url, "caBundle": trusted(authority)}, {}, seconds=5)
    with pytest.raises(WebhookFailed):
        await client({"url": url, "caBundle": trusted(authority)}, {}, seconds=5)
    await client.close()

    requests, _, sent, received = metrics.families()
    host = urlsplit(url).netloc
    assert {labels: series.value for labels, series in requests.series.items() if isinstance(series, Counter)} == {
        ("200", host, "POST"): 1,
        ("<error>", host, "POST"): 1,
    }
    assert [series.total for series in sent.series.values() if isinstance(series, Histogram)] == [2]
    assert [series.total for series in received.series.values() if isinstance(series, Histogram)] == [1]
