"""left_behind: a replica that loses etcd while etcd compacts the changes that the replica misses.

Its clients get 410 and list again; the clients of the other replica notice nothing. Must hold: the copy of each client
equals a final list, and no version goes back.
"""

import asyncio
import random
from collections.abc import Sequence
from contextlib import AsyncExitStack

import aiohttp
import orjson

from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from tests.reliability import histories, informers
from tests.reliability.histories import MAPS, Replica
from tests.reliability.informers import Copy
from tests.reliability.outcomes import Outcome
from tests.storage.kv.etcd_server import Member
from tests.storage.kv.tcp_proxy import TcpProxy

_CLIENTS = 10
_WRITES = 60
_NAMES = 12
_GONE = 410
_PAUSE = 0.01
_PATIENCE = 60.0


async def run(here: Replica, behind: Replica, *, proxy: TcpProxy, member: Member, rounds: int, seed: int) -> Outcome:
    """So many losses of the replica `behind`, whose way to the member is the proxy. Raises AssertionError."""
    chance = random.Random(seed)
    direct = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
    async with AsyncExitStack() as stack:
        stack.push_async_callback(direct.close)
        sessions = [await stack.enter_async_context(histories.session(one, seconds=None)) for one in (here, behind)]
        groups = [[_Follower(session) for _ in range(_CLIENTS)] for session in sessions]
        everybody = [*groups[0], *groups[1]]
        tasks = [asyncio.create_task(one.follow()) for one in everybody]
        try:
            for _ in range(rounds):
                await _equal(everybody, await _write(sessions[0], chance), sessions[0])
                proxy.partition()
                version = await _write(sessions[0], chance)
                await direct.compact(await direct.current_revision())
                proxy.heal()
                await _equal(everybody, version, sessions[0])
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
    assert not (failures := [one for one in ended if isinstance(one, Exception)]), failures
    assert all(follower.lists == 1 for follower in groups[0]), "a client of the other replica has listed again"
    lists = sum(follower.lists - 1 for follower in groups[1])
    counts = {"losses": rounds, "writes": 2 * rounds * _WRITES, "events": sum(one.events for one in everybody)}
    return Outcome({**counts, "lists after 410": lists, "copies that differ from the final list": 0})


async def _write(session: aiohttp.ClientSession, chance: random.Random) -> int:
    """Create, change and delete objects one after the other. Returns the last version."""
    for _ in range(_WRITES):
        name = f"left-behind-{chance.randrange(_NAMES)}"
        body = {"metadata": {"name": name}, "data": {"content": str(chance.random())}}
        async with session.put(f"{MAPS}/{name}", json=body) as response:
            status = response.status
        if status == 404:
            async with session.post(MAPS, json=body, raise_for_status=True):
                continue
        assert status == 200, status
        if chance.random() < 0.3:
            async with session.delete(f"{MAPS}/{name}", raise_for_status=True):
                continue
    async with session.post(MAPS, json={"metadata": {"generateName": "mark-"}}, raise_for_status=True) as response:
        return int((await response.json())["metadata"]["resourceVersion"])


async def _equal(followers: Sequence["_Follower"], version: int, session: aiohttp.ClientSession) -> None:
    """Wait until all have come to a version. Raises AssertionError when a copy differs from a list."""
    async with asyncio.timeout(_PATIENCE):
        while any(one.version < version for one in followers):  # noqa: ASYNC110 - streams tell nobody
            await asyncio.sleep(_PAUSE)
    final, _ = await informers.listed(session, {})
    for one in followers:
        assert one.copy == final, sorted(one.copy.items() ^ final.items())[:4]


class _Follower:
    """One client. lists: how often it has listed."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.copy: Copy = {}
        self.version = 0
        self.lists = 0
        self.events = 0
        self._session = session

    async def follow(self) -> None:
        """List, watch, and list again after 410, until cancelled."""
        await self._list()
        while True:
            params = {"watch": "1", "allowWatchBookmarks": "true", "resourceVersion": str(self.version)}
            try:
                async with self._session.get(MAPS, params=params, raise_for_status=True) as response:
                    async for line in response.content:
                        await self._take(**orjson.loads(line))
            except aiohttp.ClientError:
                await asyncio.sleep(_PAUSE)

    async def _take(self, type: str, object: dict[str, object]) -> None:
        if type == "ERROR":
            assert object["code"] == _GONE, object
            await self._list()
            return
        metadata = object["metadata"]
        assert isinstance(metadata, dict)
        version, name = int(metadata["resourceVersion"]), metadata.get("name", "")
        assert version > self.version or (type == "BOOKMARK" and version == self.version), (version, self.version)
        self.version = version
        self.events += type != "BOOKMARK"
        if type == "DELETED":
            del self.copy[name]
        elif type != "BOOKMARK":
            self.copy[name] = informers.json_of(object)

    async def _list(self) -> None:
        """List until the store answers."""
        while True:
            try:
                found, version = await informers.listed(self._session, {})
                break
            except aiohttp.ClientError:
                await asyncio.sleep(_PAUSE)
        assert version >= self.version, (version, self.version)
        self.copy, self.version = found, version
        self.lists += 1
