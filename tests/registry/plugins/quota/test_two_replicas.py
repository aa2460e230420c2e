"""A quota holds for all servers on one storage, and for many clients at once."""

import asyncio
import ssl
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import aiohttp

from tests import program
from tests.program import Program
from tests.storage.kv.etcd_server import Member

_PATH = "/api/v1/namespaces"


@asynccontextmanager
async def client_of(server: Program) -> AsyncIterator[aiohttp.ClientSession]:
    """The administrator of a server, on ten connections."""
    pki = server.kubeconfig.parent / "pki"
    connector = aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=pki / "ca.crt"), limit=10)
    headers = {"Authorization": f"Bearer {(pki / 'admin.token').read_text()}"}
    async with aiohttp.ClientSession(server.url, connector=connector, headers=headers) as session:
        yield session


async def _allow_configmaps(one: aiohttp.ClientSession, other: aiohttp.ClientSession, *, number: int) -> None:
    """Create a namespace with a quota that both servers have seen."""
    amount = {"configmaps": str(number)}
    await _post(one, _PATH, {"metadata": {"name": "n"}})
    await _post(one, f"{_PATH}/n/resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": amount}})
    status = {"status": {"hard": amount, "used": {"configmaps": "0"}}}
    headers = {"Content-Type": "application/merge-patch+json"}
    async with one.patch(f"{_PATH}/n/resourcequotas/q/status", json=status, headers=headers) as answer:
        version = (await answer.json())["metadata"]["resourceVersion"]
    for session in (one, other):
        path = f"{_PATH}/n/resourcequotas?resourceVersion={version}&resourceVersionMatch=NotOlderThan"
        async with session.get(path) as answer:
            assert len((await answer.json())["items"]) == 1


async def _post(session: aiohttp.ClientSession, path: str, body: Mapping[str, object]) -> int:
    async with session.post(path, json=body) as answer:
        await answer.read()
        return answer.status


async def _get_used(session: aiohttp.ClientSession) -> str:
    async with session.get(f"{_PATH}/n/resourcequotas/q") as answer:
        used: str = (await answer.json())["status"]["used"]["configmaps"]
        return used


async def test_a_quota_of_100_admits_exactly_100_of_400_at_once(tmp_path: Path, etcd_binary: Path) -> None:
    async with AsyncExitStack() as stack:
        etcd = stack.enter_context(Member(binary=etcd_binary))
        folders = [tmp_path / "one", tmp_path / "other"]
        servers = []
        for folder in folders:
            folder.mkdir()
            servers.append(stack.enter_context(program.running(folder, f"--etcd-servers={etcd.endpoint}")))
        sessions = [await stack.enter_async_context(client_of(server)) for server in servers]
        await _allow_configmaps(sessions[0], sessions[1], number=100)

        bodies = [{"metadata": {"name": f"c{number}"}} for number in range(400)]
        creating = (_post(sessions[n % 2], f"{_PATH}/n/configmaps", body) for n, body in enumerate(bodies))
        answers = Counter(await asyncio.gather(*creating))

        assert answers == {201: 100, 403: 300}
        assert await _get_used(sessions[0]) == "100"
