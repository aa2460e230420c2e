"""Documents that the server gets from other servers, over real HTTPS."""

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from aio_apiserver.apiserver.outgoing.client import HTTPSClient
from aio_apiserver.apiserver.outgoing.documents import DocumentClient
from aio_apiserver.apiserver.tls import bundles
from aio_apiserver.base.clock import SystemClock
from aio_apiserver.registry.generic.component_probes import ProbeAnswer, Unhealthy
from tests.apiserver.webhook_servers import webhook
from tests.storage.kv.certificates import Authority


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
async def documents() -> AsyncIterator[DocumentClient]:
    client = HTTPSClient(SystemClock())
    yield DocumentClient(client)
    await client.close()


@pytest.mark.parametrize("answer", [ProbeAnswer(200, "ok"), ProbeAnswer(500, "[-]leaderElection failed")])
async def test_the_health_of_a_component_is_read_under_any_certificate(
    authority: Authority, documents: DocumentClient, answer: ProbeAnswer
) -> None:
    asked: list[str] = []

    async def healthz(request: web.BaseRequest) -> web.Response:
        asked.append(request.path_qs)
        return web.Response(status=answer.status, text=answer.body)

    async with webhook(authority, healthz) as url:
        port = urlsplit(url).port
        assert port is not None
        found = await documents.probe(port)

    assert found == answer
    assert asked == ["/healthz"]


async def test_a_component_that_is_not_there_refuses_the_connection(documents: DocumentClient) -> None:
    refused = 'Get "https://127.0.0.1:1/healthz": dial tcp 127.0.0.1:1: connect: connection refused'
    with pytest.raises(Unhealthy, match=refused):
        await documents.probe(1)


async def test_a_document_comes_only_from_a_server_with_a_trusted_certificate(
    authority: Authority, documents: DocumentClient
) -> None:
    async def keys(_request: web.BaseRequest) -> web.Response:
        return web.json_response({"keys": []})

    async with webhook(authority, keys) as url:
        found = await documents.fetcher(bundles.trusting(authority.file.read_text()))(url)
        with pytest.raises(OSError, match="signed by unknown authority"):
            await documents.fetcher(bundles.trusting(""))(url)

    assert found == b'{"keys": []}'


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        (web.Response(status=404), "status 404"),
        (web.Response(body=b"x" * ((1 << 20) + 1)), "the response has more than 1048576 bytes"),
        (web.Response(status=302, headers={"Location": "https://127.0.0.1:1/"}), "status 302"),
    ],
    ids=["not found", "too long", "redirected"],
)
async def test_a_document_of_another_sort_is_refused(
    authority: Authority, documents: DocumentClient, reply: web.Response, complaint: str
) -> None:
    async def answer(_request: web.BaseRequest) -> web.Response:
        return reply

    async with webhook(authority, answer) as url:
        with pytest.raises(OSError, match=complaint):
            await documents.fetcher(bundles.trusting(authority.file.read_text()))(url)
