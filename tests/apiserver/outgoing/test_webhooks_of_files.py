"""Webhooks of kubeconfig files, over real HTTPS: retries and credentials."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from aio_apiserver.apiserver.outgoing.webhooks import WebhookClient
from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.generic.webhook_calls import WebhookFailed
from tests.apiserver.webhook_servers import no_service, webhook
from tests.storage.kv.certificates import Authority

Reply = Callable[[], web.Response]


class Impatient(ManualClock):
    """A clock without waiting, which records the requested times."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.advance(seconds)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def clock() -> Impatient:
    return Impatient()


@pytest.fixture
async def out(clock: Impatient) -> AsyncIterator[WebhookClient]:
    out = WebhookClient(no_service, clock)
    yield out
    await out.close()


def kubeconfig(path: Path, url: str, authority: Authority, **user: Any) -> Path:
    """A kubeconfig file beside its certificates."""
    cluster = {"server": url, "certificate-authority": authority.file.name}
    path.write_text(
        json.dumps(
            {
                "clusters": [{"name": "c", "cluster": cluster}],
                "users": [{"name": "u", "user": user}],
                "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                "current-context": "x",
            }
        )
    )
    return path


@asynccontextmanager
async def answering(authority: Authority, *replies: Reply) -> AsyncIterator[tuple[str, list[str]]]:
    """A webhook that gives these responses in order and repeats the last one. Returns its URL and its record of
    requests.
    """
    asked: list[str] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        asked.append(request.path_qs)
        return replies[min(len(asked), len(replies)) - 1]()

    async with webhook(authority, answer) as url:
        yield url, asked


def status(code: int, **headers: str) -> Reply:
    return lambda: web.Response(status=code, headers={name.replace("_", "-"): value for name, value in headers.items()})


def failure(code: int, reason: str, **more: Any) -> Reply:
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": reason,
        "code": code,
        "message": reason,
    }
    return lambda: web.json_response({**body, **more}, status=code)


def well() -> web.Response:
    return web.json_response({"answer": 2})


@pytest.mark.parametrize(
    "first",
    [
        status(429),
        status(500),
        status(502),
        status(504),
        failure(503, "ServerTimeout"),
        failure(503, "Whatever", details={"retryAfterSeconds": 1}),
    ],
)
async def test_a_webhook_that_may_be_well_soon_is_asked_again(
    authority: Authority, out: WebhookClient, clock: Impatient, tmp_path: Path, first: Reply
) -> None:
    async with answering(authority, first, well) as (url, asked):
        found = await out.open_webhook(kubeconfig(tmp_path / "k", url, authority))({})

    assert found == {"answer": 2}
    assert len(asked) == 2
    assert 0.5 <= clock.slept[0] <= 0.6


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (status(400), "the server rejected our request for an unknown reason"),
        (status(401), "the server has asked for the client to provide credentials"),
        (status(503), "the server is currently unable to handle the request"),
        (failure(500, "Forbidden"), "Forbidden"),
        (lambda: web.Response(text=""), "0-length response with status code: 200 and content type: text/plain"),
    ],
)
async def test_a_webhook_that_will_answer_the_same_is_asked_once(
    authority: Authority, out: WebhookClient, clock: Impatient, tmp_path: Path, answer: Reply, told: str
) -> None:
    async with answering(authority, answer) as (url, asked):
        with pytest.raises(WebhookFailed, match=told):
            await out.open_webhook(kubeconfig(tmp_path / "k", url, authority))({})

    assert len(asked) == 1
    assert clock.slept == []


async def test_a_webhook_that_does_not_get_well_is_asked_five_times(
    authority: Authority, out: WebhookClient, clock: Impatient, tmp_path: Path
) -> None:
    async with answering(authority, status(500)) as (url, asked):
        with pytest.raises(WebhookFailed, match=r'an error on the server \(""\) has prevented'):
            await out.open_webhook(kubeconfig(tmp_path / "k", url, authority), first_pause=2.0)({})

    assert asked == ["/convert?timeout=30s"] * 5
    assert all(least <= slept <= least * 1.2 for least, slept in zip((2, 3, 4.5, 6.75), clock.slept, strict=True))


async def test_a_webhook_that_says_when_to_come_back_is_heeded_ten_times_a_try(
    authority: Authority, out: WebhookClient, clock: Impatient, tmp_path: Path
) -> None:
    async with answering(authority, *[status(503, Retry_After="7")] * 10, well) as (url, asked):
        found = await out.open_webhook(kubeconfig(tmp_path / "k", url, authority))({})

    assert found == {"answer": 2}
    assert len(asked) == 11
    assert clock.slept == [7] * 10


async def test_each_call_is_told_with_its_result(authority: Authority, out: WebhookClient, tmp_path: Path) -> None:
    told: list[str] = []

    async with answering(authority, status(500), status(504), well) as (url, _asked):
        webhook = out.read(kubeconfig(tmp_path / "k", url, authority))
        await out.asker(webhook, counted=lambda result, _seconds: told.append(result))({})

    assert told == ["error", "timeout", "success"]


async def test_one_that_is_not_there_is_not_waited_for(
    authority: Authority, out: WebhookClient, clock: Impatient, tmp_path: Path
) -> None:
    with pytest.raises(
        WebhookFailed, match=r'Post "https://127.0.0.1:1/\?timeout=30s": dial tcp .* connection refused'
    ):
        await out.open_webhook(kubeconfig(tmp_path / "k", "https://127.0.0.1:1/", authority))({})

    assert clock.slept == []


async def test_a_connection_that_is_broken_off_is_tried_again(
    authority: Authority, out: WebhookClient, clock: Impatient, tmp_path: Path
) -> None:
    tries: list[int] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        tries.append(len(tries))
        if len(tries) == 1:
            reset(request)
        return well()

    async with webhook(authority, answer) as url:
        found = await out.open_webhook(kubeconfig(tmp_path / "k", url, authority))({})

    assert found == {"answer": 2}
    assert len(tries) == 2
    assert len(clock.slept) == 1


def reset(request: web.BaseRequest) -> None:
    """Reset a connection, so that the other side gets ECONNRESET."""
    assert request.transport is not None
    request.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.transport.abort()


async def test_a_webhook_without_tls_and_a_user_without_credentials_are_accepted(
    out: WebhookClient, tmp_path: Path
) -> None:
    file, asked = tmp_path / "k", list[str]()
    entry = {"name": "c", "cluster": {"server": "http://127.0.0.1:1/audit"}, "context": {"cluster": "c", "user": "c"}}
    file.write_text(json.dumps({name: [entry] for name in ("clusters", "users", "contexts")}))

    async def answer(request: web.BaseRequest) -> web.Response:
        asked.append(f"{request.scheme} {request.headers.get('Authorization', '')}")
        return well()

    server = web.Server(answer)
    listener = await asyncio.get_running_loop().create_server(server, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    file.write_text(file.read_text().replace(":1/", f":{port}/"))
    try:
        found = await out.open_webhook(file)({})
    finally:
        listener.close()
        await server.shutdown()

    assert found == {"answer": 2}
    assert asked == ["http "]


async def test_a_webhook_without_a_url_of_http_is_refused(out: WebhookClient, tmp_path: Path) -> None:
    file = tmp_path / "k"
    file.write_text('{"clusters": [{"cluster": {"server": "ftp://x"}}], "contexts": [{"context": {}}]}')

    with pytest.raises(ValueError, match=r"k: not a kubeconfig file of a webhook: the server of its cluster must be"):
        out.read(file)


async def test_a_token_in_a_file_is_read_each_time(authority: Authority, out: WebhookClient, tmp_path: Path) -> None:
    seen: list[str | None] = []

    async def answer(request: web.BaseRequest) -> web.Response:
        seen.append(request.headers.get("Authorization"))
        return well()

    token = tmp_path / "token"
    async with webhook(authority, answer) as url:
        token.write_text("first\n")
        ask = out.open_webhook(kubeconfig(tmp_path / "k", url, authority, tokenFile="token"))
        await ask({})
        token.write_text("second\n")
        await ask({})

    assert seen == ["Bearer first", "Bearer second"]


async def test_certificates_in_files_are_read_again_after_a_while(
    authority: Authority, out: WebhookClient, clock: Impatient, tmp_path: Path
) -> None:
    async with answering(authority, well) as (url, asked):
        ours = Authority(tmp_path, "ours")
        file = kubeconfig(tmp_path / "k", url, ours)
        ask = out.open_webhook(file)
        with pytest.raises(WebhookFailed, match="signed by unknown authority"):
            await ask({})
        ours.file.write_bytes(authority.file.read_bytes())
        with pytest.raises(WebhookFailed, match="signed by unknown authority"):
            await ask({})
        clock.advance(300)
        found = await ask({})
        ours.file.unlink()
        clock.advance(300)
        again = await ask({})

    assert found == again == {"answer": 2}
    assert len(asked) == 2
