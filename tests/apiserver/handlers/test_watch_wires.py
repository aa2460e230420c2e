"""Watches over WebSocket and in protobuf, on a memory server."""

import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest
from aiohttp import WSMsgType

from aio_apiserver.apiserver.handlers import watch_messages
from aio_apiserver.apiserver.server import Server
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery.media_types import PROTOBUF
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.serializers import protobuf
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import read_fields
from tests.apiserver.serving import as_admin, running

MAPS = "/api/v1/namespaces/default/configmaps"
SOMETHING = GroupVersionKind("", "v1", "Status")
ORIGIN = "https://dashboard.example.com"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    async with running(tmp_path) as started:
        yield started


@pytest.fixture
async def client(server: Server) -> AsyncIterator[aiohttp.ClientSession]:
    connector = aiohttp.TCPConnector(ssl=as_admin(server))
    async with aiohttp.ClientSession(server.url, connector=connector) as session:
        yield session


async def create(client: aiohttp.ClientSession, name: str) -> None:
    async with client.post(MAPS, json={"metadata": {"name": name}}) as answer:
        assert answer.status == 201


def read_event(message: bytes) -> tuple[str, dict[str, Any]]:
    """The type and the object of a WatchEvent."""
    parts = {number: content for number, _, content in read_fields(message)}
    [raw] = [content for number, _, content in read_fields(parts[2]) if number == 1]
    return parts[1].decode(), protobuf.to_value(raw, builtin(), SOMETHING)


async def test_a_websocket_brings_an_event_a_message(client: aiohttp.ClientSession) -> None:
    async with client.ws_connect(f"{MAPS}?watch=1", origin=ORIGIN) as socket:
        await create(client, "a")
        await create(client, "b")
        messages = [await socket.receive(), await socket.receive()]

    assert [message.type for message in messages] == [WSMsgType.TEXT] * 2
    events = [orjson.loads(message.data) for message in messages]
    assert [(event["type"], event["object"]["metadata"]["name"]) for event in events] == [
        ("ADDED", "a"),
        ("ADDED", "b"),
    ]


async def test_a_websocket_ends_when_the_time_is_up(client: aiohttp.ClientSession) -> None:
    async with client.ws_connect(f"{MAPS}?watch=1&timeoutSeconds=1", origin=ORIGIN) as socket:
        message = await socket.receive()

    assert message.type is WSMsgType.CLOSE


async def test_a_websocket_without_an_origin_is_refused(client: aiohttp.ClientSession) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
        async with client.ws_connect(f"{MAPS}?watch=1"):
            pass

    assert refusal.value.status == 403


async def test_a_websocket_uses_the_subprotocol_that_is_offered(client: aiohttp.ClientSession) -> None:
    async with client.ws_connect(f"{MAPS}?watch=1", origin=ORIGIN, protocols=["events"]) as socket:
        assert socket.protocol == "events"


async def test_protobuf_over_a_websocket_is_binary(client: aiohttp.ClientSession) -> None:
    path = f"{MAPS}?watch=1"
    async with client.ws_connect(path, origin=ORIGIN, headers={"Accept": PROTOBUF}) as socket:
        await create(client, "a")
        message = await socket.receive()

    assert message.type is WSMsgType.BINARY
    kind, obj = read_event(message.data)
    assert (kind, obj["kind"], obj["metadata"]["name"]) == ("ADDED", "ConfigMap", "a")


async def test_protobuf_events_stand_behind_their_length(client: aiohttp.ClientSession) -> None:
    async with client.get(f"{MAPS}?watch=1", headers={"Accept": PROTOBUF}) as answer:
        await create(client, "a")
        [size] = struct.unpack(">I", await answer.content.readexactly(4))
        message = await answer.content.readexactly(size)

    assert answer.content_type == PROTOBUF
    kind, obj = read_event(message)
    assert (kind, obj["apiVersion"], obj["metadata"]["name"]) == ("ADDED", "v1", "a")


def test_a_failure_is_an_event_with_a_status() -> None:
    kind, obj = read_event(watch_messages.failure(PROTOBUF, errors.Expired("too old")))

    assert (kind, obj["kind"], obj["code"], obj["message"]) == ("ERROR", "Status", 410, "too old")


async def test_the_client_of_a_websocket_gets_pongs_and_is_disconnected_when_it_floods(
    client: aiohttp.ClientSession,
) -> None:
    async with client.ws_connect(f"{MAPS}?watch=1", origin=ORIGIN, autoping=False) as socket:
        await socket.ping(b"there")
        pong = await socket.receive()
        for _ in range(300):
            await socket.ping()
        rest = [await socket.receive()]
        while rest[-1].type is WSMsgType.PONG:
            rest.append(await socket.receive())

    assert (pong.type, bytes(pong.data)) == (WSMsgType.PONG, b"there")
    assert (rest[-1].type, rest[-1].data) == (WSMsgType.CLOSE, aiohttp.WSCloseCode.POLICY_VIOLATION)
