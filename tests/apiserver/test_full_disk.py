"""A server on a full disk: it starts when it has served before, and serves reads and deletions."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession, TCPConnector

from tests.apiserver import program
from tests.apiserver.program import Program
from tests.storage.kv import small_disk

MAPS = "/api/v1/namespaces/default/configmaps"
MEGABYTES = 128
MOST_SECONDS = 60
pytestmark = pytest.mark.skipif(not small_disk.may_mount(), reason="this user may not mount a small disk")


class Client:
    """The administrator of a server."""

    def __init__(self, running: Program, session: ClientSession) -> None:
        self._url = running.url
        self._session = session

    async def status(self, method: str, path: str, body: Any = None) -> int:
        async with self._session.request(method, f"{self._url}{path}", json=body) as answer:
            await answer.read()
            return answer.status

    async def create(self, name: str, size: int = 1) -> int:
        return await self.status("POST", MAPS, {"metadata": {"name": name}, "data": {"x": "y" * size}})


@asynccontextmanager
async def serving(data: Path) -> AsyncIterator[tuple[Program, Client]]:
    ready = data.parent.parent / "ready"
    ready.unlink(missing_ok=True)
    async with program.running(data, backend="sqlite", ready=ready) as running:
        headers = {"Authorization": f"Bearer {running.admin_token}"}
        connector = TCPConnector(ssl=program.trusting(data))
        async with ClientSession(connector=connector, headers=headers) as session:
            yield running, Client(running, session)


async def serve_and_end(data: Path, ending: signal.Signals) -> None:
    """A server that stores six objects."""
    async with serving(data) as (running, client):
        assert [await client.create(f"large-{number}", 500_000) for number in range(6)] == [201] * 6
        await running.stop(ending)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
async def test_a_server_starts_on_a_full_disk_and_deletions_make_room(tmp_path: Path, ending: signal.Signals) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with small_disk.mounted(disk, megabytes=MEGABYTES):
        data = disk / "data"
        await serve_and_end(data, ending)
        small_disk.fill(disk / "ballast", room=4096)

        async with serving(data) as (running, client):
            statuses = [
                await client.status("GET", f"{MAPS}/large-0"),
                await client.create("new"),
                *[await client.status("DELETE", f"{MAPS}/large-{number}") for number in range(6)],
                await client.status("GET", f"{MAPS}/large-0"),
                await client.status("GET", "/readyz"),
            ]
            (disk / "ballast").unlink()
            async with asyncio.timeout(MOST_SECONDS):
                while await client.create("again") != 201:
                    pass
            errors = (await running.stop()).err

    assert statuses == [200, 500, *[200] * 6, 404, 200]
    assert "the store is full, and the server starts all the same" in errors
    assert "Traceback" not in errors
