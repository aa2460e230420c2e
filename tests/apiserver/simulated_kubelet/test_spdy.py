"""Streams over SPDY/3.1, as kubectl falls back to them and as its port-forward uses them."""

import asyncio
import struct
import zlib
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
import pytest

from aio_apiserver.apiserver.simulated_kubelet import spdy_frames
from aio_apiserver.apiserver.simulated_kubelet.spdy_frames import (
    DATA,
    DICTIONARY,
    PING,
    RESET,
    SYN_REPLY,
    SYN_STREAM,
    SPDYFrames,
)
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
        self.kinds = Counter[int]()
        """The number of received frames of each kind."""

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
            await self.read_some()

    async def read_some(self) -> None:
        """Read what has come, with the server's own reader of frames."""
        data = await self.reader.read(65536)
        assert data
        self._frames.feed(data)
        for frame in self._frames.read():
            self.kinds[frame.kind] += 1
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


_EXEC = "exec?command=cat&stdin=1&stdout=1&stderr=1"


async def test_every_ping_of_many_is_answered(cluster: clusters.Cluster) -> None:
    async with _connected(cluster, _EXEC, "v4.channel.k8s.io") as client:
        client.writer.write(spdy_frames.control(PING, b"ping") * 3_000)
        for stream, kind in ((1, "error"), (3, "stdin"), (5, "stdout"), (7, "stderr")):
            client.open(stream, streamtype=kind)
        client.send(3, b"typed", is_last=True)
        await client.read_until(1, 5, 7)

    assert client.kinds[PING] == 3_000
    assert client.received[5] == b"typed"


async def test_many_streams_are_refused_and_a_second_one_of_a_kind(cluster: clusters.Cluster) -> None:
    async with _connected(cluster, "portforward?ports=8080", "portforward.k8s.io") as client:
        for stream in range(1, 2_001, 2):
            client.open(stream, streamtype="error", port="8080", requestid=str(stream))
        client.open(5, streamtype="data", port="8080", requestid="a used stream")
        client.writer.write(spdy_frames.control(PING, b"ping"))
        while not client.kinds[PING]:
            await client.read_some()

    assert client.kinds[SYN_REPLY] == 256
    assert client.kinds[RESET] == 1_000 - 256 + 1


async def test_ports_may_be_opened_again_and_again(cluster: clusters.Cluster) -> None:
    cluster.server.parts.simulated.port(8080, bytes.upper)

    async with _connected(cluster, "portforward?ports=8080", "portforward.k8s.io") as client:
        for first in range(1, 1_200, 4):
            client.open(first, streamtype="error", port="8080", requestid=str(first))
            client.open(first + 2, streamtype="data", port="8080", requestid=str(first))
            client.send(first + 2, b"hello", is_last=True)
            await client.read_until(first, first + 2)

    assert client.received[1_199] == b"HELLO"
    assert not client.kinds[RESET]


async def test_data_without_a_reader_keep_no_other_data_back(cluster: clusters.Cluster) -> None:
    async with _connected(cluster, _EXEC, "v4.channel.k8s.io") as client:
        for stream, kind in ((1, "error"), (3, "stdin"), (5, "stdout"), (7, "stderr")):
            client.open(stream, streamtype=kind)
        for stream in (5, 99):
            client.send(stream, bytes(3_000_000))
        client.send(3, b"typed", is_last=True)
        client.send(3, b"too late")
        await client.read_until(1, 5, 7)

    assert client.received[5] == b"typed"


def _packed(block: bytes) -> bytes:
    deflate = zlib.compressobj(zdict=DICTIONARY)
    packed = deflate.compress(block) + deflate.flush(zlib.Z_SYNC_FLUSH)
    return spdy_frames.control(SYN_STREAM, struct.pack(">IIH", 1, 0, 0) + packed)


@pytest.mark.parametrize(
    "frame",
    [
        _packed(struct.pack(">I", 2**32 - 1) + bytes(8_000)),
        _packed(struct.pack(">I", 65) + bytes(8 * 65)),
        _packed(struct.pack(">III", 1, 0, 2**32 - 1)),
        _packed(struct.pack(">I", 1) + bytes(1_000_000)),
        spdy_frames.control(SYN_STREAM, bytes(10)),
        spdy_frames.control(SYN_STREAM, bytes(10) + b"no zlib"),
        spdy_frames.control(PING, bytes(20_000)),
    ],
    ids=["a billion headers", "65 headers", "a long header", "a bomb", "no headers", "not packed", "a long frame"],
)
def test_a_hostile_frame_is_refused(frame: bytes) -> None:
    frames = SPDYFrames()
    frames.feed(frame)

    with pytest.raises((ValueError, zlib.error, struct.error)):
        list(frames.read())


def test_a_long_data_frame_comes_in_pieces() -> None:
    frames, frame = SPDYFrames(), spdy_frames.data_frame(1, b"abcdef", is_last=True)
    pieces = []
    for start in range(0, len(frame), 5):
        frames.feed(frame[start : start + 5])
        pieces += [(one.data, one.is_last) for one in frames.read()]

    assert pieces == [(b"ab", False), (b"cdef", True)]


def test_the_dictionary_is_that_of_spdy_3() -> None:
    assert len(DICTIONARY) == 1423
    assert zlib.adler32(DICTIONARY) == 0xE3C6A7C2
