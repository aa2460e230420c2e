"""Request smuggling: the server reads the requests of a connection as Go's net/http does, or refuses them."""

import asyncio
import tomllib
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from aio_apiserver.apiserver.filters.errors import with_errors
from aio_apiserver.apiserver.wire import bodies, responses
from aio_apiserver.apiserver.wire.context import RequestContext
from tests.apiserver.serving import LOOPBACK, listening, read_answer

TABLE = Path(__file__).with_name("ambiguous_requests.toml")
ROWS: Sequence[dict[str, Any]] = tomllib.loads(TABLE.read_text())["request"]
BY_NAME = {row["name"]: row for row in ROWS}
ENDLESS = "a chunk size with 65 bits"
"""The parser of unknown methods waits for such a chunk, up to the limit of bodies."""
REFUSED = "refused"
SECONDS = 20.0


async def echo(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
    """Answer with the request as it was read."""
    body = await bodies.read(request)
    return responses.text(context, f"{request.method} {request.raw_path} {body.decode('latin-1')}")


@pytest.fixture
async def port() -> AsyncIterator[int]:
    async with listening(echo, with_errors) as listener:
        yield listener.port


async def answers(port: int, sent: str) -> list[str]:
    """The answers on one connection, until the server closes it."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    found = []
    try:
        writer.write(sent.encode("latin-1"))
        async with asyncio.timeout(SECONDS):
            while True:
                answer = await read_answer(reader)
                found.append(f"200 {answer.text}".rstrip() if answer.status == 200 else REFUSED)
    except ConnectionResetError:
        return found
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def answers_of(port: int, requests: Mapping[str, str]) -> Mapping[str, list[str]]:
    found = await asyncio.gather(*(answers(port, sent) for sent in requests.values()))
    return dict(zip(requests, found, strict=True))


def expected(row: dict[str, Any]) -> list[str]:
    """What a row says, without interim answers and without the kinds of refusals."""
    said = row.get("here", [one for one in row["go"] if one != "100"])
    return [REFUSED if one[0] in "45" else one for one in said]


def is_safe(found: Sequence[str], go: Sequence[str]) -> bool:
    """Whether these are the first answers of Go, and at most a refusal behind them."""
    read = [one for one in found if one != REFUSED]
    return found[: len(read)] == read and read == list(go[: len(read)]) and len(found) - len(read) <= 1


async def test_ambiguous_requests_are_read_as_the_table_says(port: int) -> None:
    found = await answers_of(port, {row["name"]: row["sent"] for row in ROWS})

    assert {name: said for name, said in found.items() if said != expected(BY_NAME[name])} == {}


async def test_ambiguous_requests_of_unknown_methods_are_read_as_go_reads_them_or_refused(port: int) -> None:
    """Another parser reads them."""
    rows = [row for row in ROWS if row["sent"].startswith("POST ") and "why" not in row and row["name"] != ENDLESS]

    found = await answers_of(port, {row["name"]: "FOO" + row["sent"].removeprefix("POST") for row in rows})

    go = {row["name"]: [one.replace("POST", "FOO") for one in expected({"go": row["go"]})] for row in rows}
    assert {name: said for name, said in found.items() if not is_safe(said, go[name])} == {}


def test_each_row_that_accepts_more_than_go_has_a_reason() -> None:
    laxer = {row["name"] for row in ROWS if "here" in row and not is_safe(row["here"], expected({"go": row["go"]}))}

    assert laxer == {row["name"] for row in ROWS if "why" in row}
    assert len(BY_NAME) == len(ROWS) > 230
