"""The clients of the long runs send a request once, also when its connection ends before the answer."""

import asyncio
import ssl

import pytest

from tests.reliability import histories
from tests.reliability.histories import AnswerLost, Replica
from tests.storage.kv.etcd_server import HOST
from tests.stream_servers import talking

_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
async def test_a_request_whose_answer_is_lost_is_not_sent_again(method: str) -> None:
    requests: list[bytes] = []

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append((await reader.readuntil(b"\r\n\r\n")).split()[0])
        writer.write(_ANSWER)
        requests.append((await reader.readuntil(b"\r\n\r\n")).split()[0])

    async with (
        talking(answer_once) as port,
        histories.session(Replica(f"http://{HOST}:{port}", "", ssl.create_default_context())) as session,
    ):
        async with session.get("/"):
            pass
        with pytest.raises(AnswerLost):
            await session.request(method, "/")

    assert requests == [b"GET", method.encode()]
