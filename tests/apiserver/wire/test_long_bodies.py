"""Long bodies: a long list goes out unchanged, in several writes."""

import orjson
import pytest
from aiohttp.abc import AbstractStreamWriter

from aio_apiserver.apiserver.wire.long_bodies import PIECE_BYTES, JoinedList

_HEAD, _TAIL = b'{"items":[', b"]}\n"


class Written(AbstractStreamWriter):
    """Records writes."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    async def write(self, chunk: bytes | bytearray | memoryview) -> None:
        self.pieces.append(bytes(chunk))

    async def write_eof(self, chunk: bytes = b"") -> None: ...

    async def drain(self) -> None: ...

    def enable_compression(self, encoding: str = "deflate", strategy: int | None = None) -> None: ...

    def enable_chunking(self) -> None: ...

    async def write_headers(self, status_line: str, headers: object) -> None: ...


@pytest.mark.parametrize("count", [0, 1, 2, 1_000])
async def test_all_of_a_list_is_written_in_its_length(count: int) -> None:
    items = [orjson.dumps({"number": number, "text": "x" * number}) for number in range(count)]
    body = JoinedList(_HEAD, _TAIL, b",", items, content_type="application/json")
    written = Written()

    await body.write(written)

    sent = b"".join(written.pieces)
    assert orjson.loads(sent) == {"items": [orjson.loads(item) for item in items]}
    assert sent == body.joined()
    assert len(sent) == body.length


async def test_a_long_list_goes_out_in_pieces() -> None:
    body = JoinedList(_HEAD, _TAIL, b",", [b'"%b"' % (b"x" * 1_000)] * 1_000, content_type="application/json")
    written = Written()

    await body.write(written)

    assert len(written.pieces) > 5
    assert max(map(len, written.pieces)) < 2 * PIECE_BYTES
