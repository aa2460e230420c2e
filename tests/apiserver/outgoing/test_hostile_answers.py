"""What kubelets, pods, aggregated servers and webhooks answer without end. The watchdog of the tests limits the time
that the event loop is held.
"""

import asyncio
import gzip
import tracemalloc
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from multidict import CIMultiDict

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.outgoing.answer_connections import LongReads
from aio_apiserver.apiserver.outgoing.backends import Backends
from aio_apiserver.apiserver.outgoing.client import HTTPSAnswer, HTTPSClient, HTTPSRequest, NoAnswer
from aio_apiserver.apiserver.outgoing.relay_client import CutOff, InvalidAnswerStatus, RelayedAnswer, Unreachable
from aio_apiserver.apiserver.tls import bundles
from aio_apiserver.apiserver.wire import bodies
from aio_apiserver.base.clock import ManualClock, SystemClock
from aio_apiserver.registry.base.locations import Location, Passage
from tests.apiserver.serving import LOOPBACK
from tests.attacks import hostile_answers
from tests.attacks.hostile_answers import HostileAnswer
from tests.stream_servers import talking

MALFORMED = "net/http: HTTP/1.x transport connection broken: malformed HTTP response"
WORDS: Mapping[str, str] = {
    "early hints": "net/http: too many 1xx informational responses",
    "continues": "net/http: too many 1xx informational responses",
    "large hints": "net/http: too many 1xx informational responses",
    "blank lines": "net/http: server response headers exceeded 4096 lines; aborted",
    "a field of lines": "net/http: server response headers exceeded 4096 lines; aborted",
    "another protocol": 'backend tried to switch protocol "x" when "" was requested',
}
MOST_BYTES = 8 << 20


@asynccontextmanager
async def relayed(directory: Path, hostile: HostileAnswer) -> AsyncIterator[RelayedAnswer]:
    """The answer of a server to a relayed request."""
    backends = Backends(Settings(data_dir=directory))
    try:
        async with talking(hostile.send) as port:
            location = Location(passage=Passage.PROXY, scheme="http", host=LOOPBACK, port=str(port), path="/")
            url = f"http://{location.authority}/"
            async with backends.request(location, "GET", url, headers=CIMultiDict()) as answer:
                yield answer
    finally:
        await backends.close()


async def posted(hostile: HostileAnswer) -> HTTPSAnswer:
    """The answer of a webhook without TLS."""
    client = HTTPSClient(SystemClock())
    try:
        async with talking(hostile.send) as port:
            request = HTTPSRequest(f"http://{LOOPBACK}:{port}/", bundles.unverified(), b"{}")
            return await client.post(request, seconds=30)
    finally:
        await client.close()


async def body_of(answer: RelayedAnswer, most: int = MOST_BYTES) -> bytes:
    """The body, up to so many bytes."""
    body = bytearray()
    async for chunk in answer.chunks():
        body += chunk
        if len(body) >= most:
            break
    return bytes(body)


@pytest.mark.parametrize("name", hostile_answers.BEFORE_THE_BODY)
async def test_a_head_without_end_is_no_answer(tmp_path: Path, name: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(Unreachable) as failed:
            async with relayed(tmp_path, hostile_answers.ALL[name]):
                pass
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert str(failed.value) == WORDS.get(name, MALFORMED)
    assert most < MOST_BYTES


@pytest.mark.parametrize("name", hostile_answers.IN_THE_BODY)
async def test_framing_without_end_breaks_the_answer_off(tmp_path: Path, name: str) -> None:
    with pytest.raises(CutOff, match="unexpected EOF"):
        async with relayed(tmp_path, hostile_answers.ALL[name]) as answer:
            assert len(await body_of(answer)) <= 1


@pytest.mark.parametrize("name", hostile_answers.BEHIND_THE_BODY)
async def test_what_comes_behind_an_answer_is_not_read(tmp_path: Path, name: str) -> None:
    async with relayed(tmp_path, hostile_answers.ALL[name]) as answer:
        body = await body_of(answer)

    assert (answer.status, body) == (200, b"body")


@pytest.mark.parametrize("name", hostile_answers.ENDLESS_BODIES)
async def test_a_body_without_end_comes_as_fast_as_it_is_read(tmp_path: Path, name: str) -> None:
    most = 100_000
    async with relayed(tmp_path, hostile_answers.ALL[name]) as answer:
        body = await body_of(answer, most)

    assert most <= len(body) < 3 * most


@pytest.mark.parametrize("behind", [b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfalse", b"HTTP/1.1 2", b"\r\n"])
@pytest.mark.parametrize(
    "first",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
    ],
)
async def test_the_next_request_does_not_get_bytes_behind_an_answer(
    tmp_path: Path, first: bytes, behind: bytes
) -> None:
    answers, backends = (
        [first + behind, b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntrue"],
        Backends(Settings(data_dir=tmp_path)),
    )

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(answers.pop(0))
            await writer.drain()

    received = []
    try:
        async with talking(talk) as port:
            location = Location(passage=Passage.PROXY, scheme="http", host=LOOPBACK, port=str(port), path="/")
            for _ in range(2):
                url = f"http://{location.authority}/"
                async with backends.request(location, "GET", url, headers=CIMultiDict()) as answer:
                    received.append(await body_of(answer))
    finally:
        await backends.close()

    assert received == [b"" if b"204" in first else b"body", b"true"]


async def test_bytes_on_an_idle_connection_close_it(tmp_path: Path) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"
    backends, closed = Backends(Settings(data_dir=tmp_path)), asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await is_idle.wait()
        writer.write(answer)
        assert await reader.read() == b""
        closed.set()

    is_idle = asyncio.Event()
    try:
        async with talking(talk) as port:
            location = Location(passage=Passage.PROXY, scheme="http", host=LOOPBACK, port=str(port), path="/")
            url = f"http://{location.authority}/"
            async with backends.request(location, "GET", url, headers=CIMultiDict()) as relayed_answer:
                await body_of(relayed_answer)
            is_idle.set()
            await closed.wait()
    finally:
        await backends.close()


async def test_five_informational_answers_are_skipped(tmp_path: Path) -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" * 5

    async with relayed(tmp_path, HostileAnswer(hints + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody")) as answer:
        body = await body_of(answer)

    assert (answer.status, "Link" in answer.headers, body) == (200, False, b"body")


async def test_a_thousand_long_fields_are_read(tmp_path: Path) -> None:
    fields = b"".join(b"X-%d: %b\r\n" % (number, b"y" * 900) for number in range(1_000))
    head = b"HTTP/1.1 200 OK\r\n%bX-Long: %b\r\nContent-Length: 0\r\n\r\n" % (fields, b"z" * 60_000)

    async with relayed(tmp_path, HostileAnswer(head)) as answer:
        assert (len(answer.headers), len(answer.headers["X-Long"])) == (1_002, 60_000)


async def test_heads_of_a_megabyte_are_no_answer(tmp_path: Path) -> None:
    head = b"HTTP/1.1 103 Early Hints\r\n" + b"X: %b\r\n" % (b"y" * 60_000) * 10 + b"\r\n"

    with pytest.raises(Unreachable, match="net/http: server response headers exceeded 1048576 bytes; aborted"):
        async with relayed(tmp_path, HostileAnswer(head * 2)):
            pass


@pytest.mark.parametrize("status", [b"000", b"001", b"099"])
async def test_a_status_that_http_lacks_is_a_bad_gateway(tmp_path: Path, status: bytes) -> None:
    with pytest.raises(InvalidAnswerStatus) as failed:
        async with relayed(tmp_path, HostileAnswer(b"HTTP/1.1 %b OK\r\nContent-Length: 0\r\n\r\n" % status)):
            pass

    assert failed.value.code == 502
    assert str(failed.value) == f"the backend answered with {status.decode()}, which is no status of HTTP"


@pytest.mark.parametrize("name", [name for name in hostile_answers.BEFORE_THE_BODY if name != "another protocol"])
async def test_a_webhook_with_a_head_without_end_has_failed(name: str) -> None:
    with pytest.raises(NoAnswer) as failed:
        await posted(hostile_answers.ALL[name])

    assert str(failed.value).endswith(f'/": {WORDS.get(name, MALFORMED)}')


@pytest.mark.parametrize("name", hostile_answers.IN_THE_BODY)
async def test_a_webhook_with_framing_without_end_has_failed(name: str) -> None:
    with pytest.raises(NoAnswer, match=r'/": unexpected EOF$'):
        await posted(hostile_answers.ALL[name])


@pytest.mark.parametrize("name", ["a body", "a body of HTTP/1.0"])
async def test_a_webhook_with_a_body_without_end_has_failed(name: str) -> None:
    with pytest.raises(NoAnswer, match=f"http: response body too large: limit is {bodies.LIMIT}$"):
        await posted(hostile_answers.ALL[name])


async def test_a_compressed_body_counts_as_it_is_read() -> None:
    bomb = gzip.compress(bytes(16 << 20))
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    tracemalloc.start()
    try:
        with pytest.raises(NoAnswer, match="response body too large"):
            await posted(HostileAnswer(head + bomb))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert most < 3 * bodies.LIMIT


def test_reads_that_take_long_have_a_ninth_of_the_time_together() -> None:
    clock = ManualClock()
    reads = LongReads(clock)

    pauses = [reads.pause_after(0.01) for _ in range(3)]
    clock.advance(10)

    assert pauses == pytest.approx([0.08, 0.16, 0.24])
    assert reads.pause_after(1) == pytest.approx(0.08)
