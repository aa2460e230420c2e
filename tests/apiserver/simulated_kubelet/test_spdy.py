"""Streams over SPDY/3.1, as kubectl falls back to them and as its port-forward uses them."""

import asyncio
import struct
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
import pytest

from aio_apiserver.apiserver.simulated_kubelet import spdy_frames
from aio_apiserver.apiserver.simulated_kubelet.spdy_frames import DATA, DICTIONARY, PING, SYN_STREAM, SPDYFrames
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import resources as places
from tests.apiserver import serving
from tests.controllers import clusters

_POD = "/api/v1/namespaces/default/pods/web"


class _Client:
    """A client of SPDY streams."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._frames = SPDYFrames()
        self._deflate = zlib.compressobj(zdict=DICTIONARY)
        self.received: dict[int, bytes] = {}
        self.ended: set[int] = set()

    def open(self, stream: int, **headers: str) -> None:
        block = struct.pack(">I", len(headers))
        for text in (text for pair in headers.items() for text in pair):
            block += struct.pack(">I", len(text)) + text.encode()
        packed = self._deflate.compress(block) + self._deflate.flush(zlib.Z_SYNC_FLUSH)
        self.writer.write(spdy_frames.control(SYN_STREAM, struct.pack(">IIH", stream, 0, 0) + packed))

    def send(self, stream: int, data: bytes, *, is_last: bool = False) -> None:
        self.writer.write(spdy_frames.data_frame(stream, data, is_last=is_last))

    async def read_until(self, *streams: int) -> None:
        """Read until these streams have ended."""
        while not self.ended >= set(streams):
            data = await self.reader.read(65536)
            assert data
            # The test reads the frames of the server with the parser of the server; replies have no headers.
            for frame in self._frames.read(data):
                if frame.kind == DATA:
                    self.received[frame.stream] = self.received.get(frame.stream, b"") + frame.data
                    self.ended |= {frame.stream} if frame.is_last else set()
                elif frame.kind == PING:
                    self.received[0] = frame.data


@asynccontextmanager
async def _connected(cluster: clusters.Cluster, path: str, protocol: str) -> AsyncIterator[_Client]:
    tls, port = serving.as_admin(cluster.server), cluster.server.secure.port
    reader, writer = await asyncio.open_connection(serving.LOOPBACK, port, ssl=tls)
    head = f"POST {_POD}/{path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
    writer.write(f"{head}X-Stream-Protocol-Version: {protocol}\r\nContent-Length: 0\r\n\r\n".encode())
    answer = (await reader.readuntil(b"\r\n\r\n")).decode()
    assert answer.startswith("HTTP/1.1 101"), answer
    assert f"X-Stream-Protocol-Version: {protocol}" in answer
    try:
        yield _Client(reader, writer)
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[clusters.Cluster]:
    async with clusters.running(tmp_path, "serviceaccount-controller", simulate=True) as made:
        await made.until(places.SERVICE_ACCOUNTS, lambda items: "default/default" in items)
        pod: Object = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "nginx"}]}}
        await made.client.create(places.PODS, pod, namespace="default")

        def is_up(items: dict[str, Object]) -> bool:
            return bool((items["default/web"].get("status") or {}).get("phase") == "Running")

        await made.until(places.PODS, is_up)
        yield made


async def test_a_command_has_a_stream_for_each_purpose(cluster: clusters.Cluster) -> None:
    path = "exec?command=sh&command=-c&command=cat%3Becho+bad+%3E%262%3Bexit+3&stdin=1&stdout=1&stderr=1"
    async with _connected(cluster, path, "v4.channel.k8s.io") as client:
        for stream, kind in ((1, "error"), (3, "stdin"), (5, "stdout"), (7, "stderr")):
            client.open(stream, streamtype=kind)
        client.send(3, b"typed", is_last=True)
        client.writer.write(spdy_frames.control(PING, b"ping"))
        await client.read_until(1, 5, 7)

    assert (client.received[5], client.received[7]) == (b"typed", b"bad\n")
    assert orjson.loads(client.received[1])["details"]["causes"][0]["message"] == "3"
    assert client.received[0] == b"ping"


async def test_each_connection_to_a_port_has_two_streams(cluster: clusters.Cluster) -> None:
    cluster.server.parts.simulated.port(8080, bytes.upper)

    async with _connected(cluster, "portforward?ports=8080", "portforward.k8s.io") as client:
        for first, request, port in ((1, "0", "8080"), (5, "1", "99")):
            client.open(first, streamtype="error", port=port, requestid=request)
            client.open(first + 2, streamtype="data", port=port, requestid=request)
        client.send(3, b"hello", is_last=True)
        await client.read_until(1, 3, 5, 7)

    assert client.received[3] == b"HELLO"
    assert b"nothing answers on its port 99" in client.received[5]


def test_the_dictionary_is_that_of_spdy_3() -> None:
    assert len(DICTIONARY) == 1423
    assert zlib.adler32(DICTIONARY) == 0xE3C6A7C2
