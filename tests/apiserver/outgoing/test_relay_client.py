"""The client of kubelets, pods, services and aggregated servers."""

import asyncio
from pathlib import Path

import pytest
from multidict import CIMultiDict

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.outgoing.backends import Backends
from aio_apiserver.apiserver.outgoing.relay_client import CutOff
from aio_apiserver.registry.base.locations import Location, Passage
from tests.apiserver.handlers.test_connect import read_head
from tests.apiserver.serving import LOOPBACK
from tests.stream_servers import talking


async def test_an_answer_that_breaks_off_is_not_taken_as_whole(tmp_path: Path) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_head(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
        await writer.drain()
        writer.close()

    backends, received = Backends(Settings(data_dir=tmp_path)), bytearray()

    async def receive(location: Location) -> None:
        url = f"http://{location.authority}/"
        async with backends.request(location, "GET", url, headers=CIMultiDict()) as answer:
            async for chunk in answer.chunks():
                received.extend(chunk)

    try:
        async with talking(talk) as port:
            location = Location(passage=Passage.PROXY, scheme="http", host=LOOPBACK, port=str(port), path="/")
            with pytest.raises(CutOff, match="unexpected EOF"):
                await receive(location)
    finally:
        await backends.close()

    assert received == b"half"
