"""Requests that come together: which of them a server answers first. `scripts/soak attacks.writers` has their times."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import as_admin, ask, running
from tests.attacks import crowds
from tests.attacks.crowds import KINDS, Client

NODES = 4
COUNTS = {"anonymous": 40, "writers": 100, "readers": 20, "renewers": NODES}
JSON = {"Content-Type": "application/json"}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    tokens = tmp_path / "tokens.csv"
    tokens.write_text(crowds.TOKENS)
    async with running(tmp_path, token_auth_file=tokens, authorization_mode=("AlwaysAllow",)) as one:
        await create(one, crowds.CONFIG_MAPS, "neighbour")
        for number in range(NODES):
            await create(one, crowds.LEASES, f"n{number}")
        yield one


async def create(server: Server, path: str, name: str) -> None:
    body = orjson.dumps({"metadata": {"name": name}})
    answer = await ask(server.secure.port, path, method="POST", headers=JSON, body=body, tls=as_admin(server))
    assert answer.status == 201, answer.text


async def answered(port: int) -> Sequence[str]:
    """The kinds of all requests, in the order of their answers. They are sent in the order of COUNTS."""
    order: list[str] = []

    async def send(kind: str, number: int, client: Client) -> None:
        status = await client.ask(KINDS[kind].message(number))
        assert status in (200, 201), status
        order.append(kind)

    async with AsyncExitStack() as stack:
        clients = {kind: await crowds.connected(port, count) for kind, count in COUNTS.items()}
        for client in (one for many in clients.values() for one in many):
            stack.callback(client.close)
            await client.ask(KINDS["readers"].message(0))
        await asyncio.gather(
            *(send(kind, n, client) for kind, many in clients.items() for n, client in enumerate(many))
        )
    return order


async def test_renewals_and_reads_are_answered_before_most_writes_and_anonymous_requests_last(server: Server) -> None:
    order = await answered(server.secure.port)

    last = {kind: len(order) - order[::-1].index(kind) for kind in COUNTS}
    assert order[: last["renewers"]].count("writers") < 60
    assert order[: last["readers"]].count("writers") < 60
    assert order[: last["writers"]].count("anonymous") < 30
