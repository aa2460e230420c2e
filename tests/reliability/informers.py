"""informers: clients that list and then watch from there over HTTP, while others write 200 times a second.

A client lists at once, in pages, from the cache, or as a watch that begins with the list; then it applies the events.
A client that pages too slowly for the compaction lists at once.
In the end of a wave, its copy must equal a final list, byte for byte.
"""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from http import HTTPStatus
from typing import Any

import aiohttp
import orjson

from tests.reliability import histories
from tests.reliability.churn import Churn
from tests.reliability.histories import MAPS, Replica
from tests.reliability.outcomes import Outcome

_WAVE = 50
"""The clients of one wave."""
_SPREAD = 0.7
"""The seconds within which they begin."""
_PATIENCE = 60.0
_WAYS = ("at once", "in pages", "from the cache", "as a watch")

Copy = dict[str, bytes]


async def run(replicas: Sequence[Replica], *, hand_offs: int, seed: int) -> Outcome:
    """So many hand-offs. Raises AssertionError when a copy differs."""
    ways: Counter[str] = Counter()
    events = 0
    async with AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(histories.session(replica, seconds=None)) for replica in replicas]
        churn = Churn(sessions, seed)
        await churn.begin()
        for first in range(0, hand_offs, _WAVE):
            clients = [
                _Informer(sessions[number % len(sessions)], random.Random(f"{seed} {first} {number}"))
                for number in range(min(_WAVE, hand_offs - first))
            ]
            await _wave(clients, churn, sessions[0])
            ways.update(client.way for client in clients)
            events += sum(client.events for client in clients)
    lists = {f"lists {way}": count for way, count in sorted(ways.items())}
    counts = {"hand-offs": hand_offs, **lists, "events": events, "writes": churn.writes}
    return Outcome({**counts, "copies that differ from the final list": 0}, moments=churn.latencies.moments())


async def _wave(clients: Sequence["_Informer"], churn: Churn, session: aiohttp.ClientSession) -> None:
    following: list[asyncio.Task[None]] = []
    try:
        async with churn.writing():
            following += [asyncio.create_task(client.follow()) for client in clients]
            await asyncio.gather(*(client.synced.wait() for client in clients))
        await churn.mark(f"the end of {churn.writes}")
        final, version = await listed(session, {})
        async with asyncio.timeout(_PATIENCE):
            for client in clients:
                await client.until(version)
    finally:
        for task in following:
            task.cancel()
        for ended in await asyncio.gather(*following, return_exceptions=True):
            if isinstance(ended, Exception):
                raise ended
    for client in clients:
        assert client.copy == final, f"{client.way}: {sorted(client.copy.items() ^ final.items())[:4]}"


class _Informer:
    """One client. `copy`: what it knows of each object, as JSON."""

    def __init__(self, session: aiohttp.ClientSession, chance: random.Random) -> None:
        self.way = chance.choice(_WAYS)
        self.synced = asyncio.Event()
        self.copy: Copy = {}
        self.events = 0
        self._session = session
        self._chance = chance
        self._version = 0
        self._moved = asyncio.Condition()

    async def follow(self) -> None:
        """One hand-off, then the events until cancelled."""
        try:
            await asyncio.sleep(self._chance.uniform(0, _SPREAD))
            params = {"watch": "1", "allowWatchBookmarks": "true"}
            if self.way == "as a watch":
                params |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
            else:
                params["resourceVersion"] = await self._list()
            async with self._session.get(MAPS, params=params, raise_for_status=True) as response:
                self.synced.set()
                async for line in response.content:
                    await self._take(orjson.loads(line))
        finally:
            self.synced.set()

    async def until(self, version: int) -> None:
        """Wait until the events up to a version have come."""
        async with self._moved:
            await self._moved.wait_for(lambda: self._version >= version)

    async def _list(self) -> str:
        params = {"in pages": {"limit": str(self._chance.randint(3, 20))}, "from the cache": {"resourceVersion": "0"}}
        self.copy, version = await listed_in_time(self._session, params.get(self.way, {}))
        self._version = version
        return str(version)

    async def _take(self, event: Any) -> None:
        kind, obj = event["type"], event["object"]
        assert kind != "ERROR", obj
        version = int(obj["metadata"]["resourceVersion"])
        if kind == "BOOKMARK":
            assert version >= self._version
        else:
            self._apply(kind, obj["metadata"]["name"], version, obj)
        async with self._moved:
            self._version = max(version, self._version)
            self._moved.notify_all()

    def _apply(self, kind: str, name: str, version: int, obj: Any) -> None:
        """Apply an event, which must fit the copy. The objects of a first list come in the order of their names."""
        is_initial = self.way == "as a watch" and kind == "ADDED"
        assert version > self._version or is_initial, f"{kind} {version} after {self._version}"
        assert (name in self.copy) is (kind != "ADDED"), f"{kind} of {name}"
        self.events += 1
        if kind == "DELETED":
            del self.copy[name]
        else:
            self.copy[name] = json_of(obj)


async def listed_in_time(session: aiohttp.ClientSession, params: Mapping[str, str]) -> tuple[Copy, int]:
    """The same as `listed`. When the version of the first page is compacted meanwhile, it lists at once, as client-go
    does.
    """
    try:
        return await listed(session, params)
    except aiohttp.ClientResponseError as exc:
        if exc.status != HTTPStatus.GONE:
            raise
        return await listed(session, {})


async def listed(session: aiohttp.ClientSession, params: Mapping[str, str]) -> tuple[Copy, int]:
    """A list, all its pages if it has several, and its version."""
    found: Copy = {}
    version = "0"
    async for page in pages(session, params):
        version = page["metadata"]["resourceVersion"]
        found.update((item["metadata"]["name"], json_of(item)) for item in page["items"])
    return found, int(version)


async def pages(session: aiohttp.ClientSession, params: Mapping[str, str]) -> AsyncIterator[Any]:
    """The pages of a list."""
    token = ""
    while True:
        more = {"limit": params["limit"], "continue": token} if token else params
        async with session.get(MAPS, params=more, raise_for_status=True) as response:
            page = orjson.loads(await response.read())
        yield page
        token = page["metadata"].get("continue", "")
        if not token:
            return


def json_of(obj: Any) -> bytes:
    """The JSON of an object without its type, which the items of a list lack."""
    return orjson.dumps({name: value for name, value in obj.items() if name not in ("kind", "apiVersion")})
