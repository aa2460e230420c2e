"""A full embedded store: what clients are told, what still works, and that deletions end the alarm."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from aio_apiserver.apiserver.server import Server
from tests.apiserver.serving import Answer, as_admin, ask, running
from tests.apiserver.workers.running import address_of, connected, workers

MAPS = "/api/v1/namespaces/default/configmaps"
QUOTA = 8 << 20
MOST_SECONDS = 60
FULL = {
    "kind": "Status",
    "apiVersion": "v1",
    "metadata": {},
    "status": "Failure",
    "message": "etcdserver: mvcc: database space exceeded",
    "code": 500,
}
WARNING = "warn: etcd: the store has reached --store-quota-bytes (NOSPACE)"
ALARM = 'aio_apiserver_storage_alarm{storage_cluster_id="etcd-0"} 1'


def large(name: str) -> dict[str, Any]:
    """An object that a finalizer holds."""
    return {"metadata": {"name": name, "finalizers": ["example.com/hold"]}, "data": {"x": "y" * 700_000}}


async def request(
    server: Server, method: str, path: str, body: Any = None, media_type: str = "application/json"
) -> Answer:
    sent = b"" if body is None else orjson.dumps(body)
    headers = {"Content-Type": media_type}
    return await ask(server.secure.port, path, method=method, body=sent, headers=headers, tls=as_admin(server))


async def fill(server: Server) -> tuple[int, Answer]:
    """Create objects until one is refused: their number, and the refusal."""
    number = 0
    while (answer := await request(server, "POST", MAPS, large(f"full-{number}"))).status == 201:
        number += 1
    return number, answer


@pytest.fixture(params=["sqlite", "memory"])
async def server(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Server]:
    async with running(tmp_path, storage_backend=request.param, store_quota_bytes=QUOTA) as started:
        yield started


async def test_a_full_store_refuses_creations_and_everything_else_works(server: Server) -> None:
    count, refused = await fill(server)

    answers = {
        "read": await request(server, "GET", f"{MAPS}/full-0"),
        "list": await request(server, "GET", MAPS),
        "metrics": await request(server, "GET", "/metrics"),
        "marked": await request(server, "DELETE", f"{MAPS}/full-0"),
        "freed": await request(
            server, "PATCH", f"{MAPS}/full-0", {"metadata": {"finalizers": None}}, "application/merge-patch+json"
        ),
        "gone": await request(server, "GET", f"{MAPS}/full-0"),
    }

    assert count >= 5
    assert (refused.status, refused.json) == (500, FULL)
    statuses = {name: answer.status for name, answer in answers.items()}
    assert statuses == {
        "read": 200,
        "list": 200,
        "metrics": 200,
        "marked": 200,
        "freed": 200,
        "gone": 404,
    }
    assert ALARM in answers["metrics"].text


async def test_readyz_names_the_flag_of_a_full_store(server: Server) -> None:
    await fill(server)

    async with asyncio.timeout(MOST_SECONDS):  # a good result counts for a second
        while WARNING not in (answer := await request(server, "GET", "/readyz?verbose")).text:
            assert answer.status == 200


async def test_deletions_make_room_for_writes(server: Server) -> None:
    count, _ = await fill(server)
    for number in range(count - 2):
        await request(server, "DELETE", f"{MAPS}/full-{number}")
        path = f"{MAPS}/full-{number}"
        await request(server, "PATCH", path, {"metadata": {"finalizers": None}}, "application/merge-patch+json")

    async with asyncio.timeout(MOST_SECONDS):
        while (answer := await request(server, "POST", MAPS, large("new"))).status != 201:
            assert answer.json == FULL


async def test_all_workers_refuse_what_does_not_fit(tmp_path: Path) -> None:
    async with workers(tmp_path, f"--store-quota-bytes={QUOTA}") as program, connected(address_of(program)) as both:
        answers = [
            await both[number % 2].ask(MAPS, method="POST", body=large(f"full-{number}")) for number in range(14)
        ]
        metrics = [(await one.ask("/metrics")).text for one in both]

    refused = [answer.json for answer in answers if answer.status != 201]
    assert len(refused) >= 2
    assert refused == [FULL] * len(refused)
    assert [ALARM in text for text in metrics] == [True, True]
