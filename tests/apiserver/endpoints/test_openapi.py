import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from aio_apiserver.apiserver.endpoints.openapi import OpenAPI
from aio_apiserver.apiserver.endpoints.openapi_documents import OpenAPIDocuments
from aio_apiserver.apiserver.endpoints.remote_versions import RemoteVersions
from aio_apiserver.apiserver.filters import request_info
from aio_apiserver.apiserver.routing import Routes
from aio_apiserver.base.clock import SystemClock
from aio_apiserver.registry.machinery.openapi import roots
from aio_apiserver.registry.machinery.openapi.routes import DocumentSource
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import read_fields
from tests.apiserver.serving import Answer, ask, listening
from tests.registry.machinery.openapi.resources import PODS, core
from tests.registry.machinery.openapi.test_custom import gizmos

PROTOBUF2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
PROTOBUF3 = "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
VERSION = "/openapi/v3/version"


class Client:
    """Requests documents of sources that a test can change."""

    def __init__(self) -> None:
        self.port = 0
        self.sources: dict[str, DocumentSource] = {one.path: one for one in (roots.version("1.36"), core(PODS))}

    async def __call__(self, target: str, *, method: str = "GET", **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return await ask(self.port, target, method=method, headers=named)


@asynccontextmanager
async def serving() -> AsyncIterator[Client]:
    client = Client()
    clock = SystemClock()
    openapi = OpenAPI(lambda: OpenAPIDocuments(lambda: client.sources, RemoteVersions(), builtin(), clock), clock)
    routes = Routes(exact=openapi.exact, prefixes=openapi.prefixes)
    async with listening(routes.dispatch, request_info.with_request_info) as listener:
        client.port = listener.port
        yield client


async def test_the_index_says_where_documents_are_as_long_as_they_stay_the_same() -> None:
    async with serving() as client:
        index = (await client("/openapi/v3")).json["paths"]
        document = await client(index["version"]["serverRelativeURL"])

    assert set(index) == {"api/v1", "version"}
    assert document.status == 200
    assert document.headers["cache-control"] == "public, immutable"
    assert document.json["info"] == {"title": "Kubernetes", "version": "1.36"}


async def test_an_old_hash_leads_to_the_present_one() -> None:
    async with serving() as client:
        moved = await client(f"{VERSION}?hash=OLD")
        document = await client(moved.headers["location"])

    assert (moved.status, moved.body) == (301, b"")
    assert document.status == 200


@pytest.mark.parametrize("known", ["{}", "W/{}", '"0", {}', "*"])
async def test_a_client_that_has_it_gets_no_body(known: str) -> None:
    async with serving() as client:
        etag = (await client(VERSION)).headers["etag"]
        answer = await client(VERSION, If_None_Match=known.format(etag))

    assert (answer.status, answer.body) == (304, b"")
    assert answer.headers["etag"] == etag


async def test_a_part_can_be_asked_for() -> None:
    async with serving() as client:
        whole = await client(VERSION)
        part = await client(VERSION, Range="bytes=2-5")
        end = await client(VERSION, Range="bytes=-3")
        beyond = await client(VERSION, Range="bytes=999999-")

    assert (part.status, part.body) == (206, whole.body[2:6])
    assert part.headers["content-range"] == f"bytes 2-5/{len(whole.body)}"
    assert end.body == whole.body[-3:]
    assert (beyond.status, beyond.headers["content-range"]) == (416, f"bytes */{len(whole.body)}")


@pytest.mark.parametrize("accept", ["text/html", "application/yaml", PROTOBUF2])
async def test_what_is_not_offered_is_not_acceptable(accept: str) -> None:
    async with serving() as client:
        answer = await client(VERSION, Accept=accept)

    assert (answer.status, answer.body) == (406, b"")
    assert answer.headers["vary"] == "Accept"
    assert "content-type" not in answer.headers


async def test_there_is_nothing_where_nothing_is_published() -> None:
    async with serving() as client:
        answer = await client("/openapi/v3/apis/apps/v9")

    assert (answer.status, answer.body) == (404, b"")


async def test_documents_can_be_had_in_protobuf() -> None:
    async with serving() as client:
        older = await client("/openapi/v2", Accept=PROTOBUF2)
        newer = await client(VERSION, Accept=PROTOBUF3)
        json = await client(VERSION)

    assert older.headers["content-type"] == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    assert _texts(older.body)[1] == b"2.0"
    assert _texts(newer.body)[1] == b"3.0.0"
    assert newer.headers["etag"] == json.headers["etag"]


def _texts(message: bytes) -> dict[int, bytes]:
    return {number: content for number, _, content in read_fields(message)}


async def test_version_2_is_compressed_for_those_who_take_it() -> None:
    async with serving() as client:
        plain = await client("/openapi/v2")
        compressed = await client("/openapi/v2", Accept_Encoding="gzip")
        refused = await client("/openapi/v2", Accept_Encoding="gzip;q=0")
        head = await client("/openapi/v2", method="HEAD", Accept_Encoding="gzip")

    assert compressed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(compressed.body) == plain.body == refused.body
    assert plain.headers["vary"] == "Accept-Encoding, Accept"
    assert "content-encoding" not in head.headers
    assert head.headers["content-length"] == str(len(plain.body))


async def test_documents_follow_what_is_served() -> None:
    async with serving() as client:
        before = (await client("/openapi/v2")).json
        client.sources = {**client.sources, gizmos().path: gizmos()}
        first = (await client("/openapi/v3")).json["paths"]["apis/example.com/v1"]
        after = (await client("/openapi/v2")).json
        client.sources = {**client.sources, gizmos().path: gizmos({"type": "object"}, digest="2")}
        second = (await client("/openapi/v3")).json["paths"]["apis/example.com/v1"]

    assert "com.example.v1.Gizmo" not in before["definitions"]
    assert "com.example.v1.Gizmo" in after["definitions"]
    assert first != second
