"""chunks: lists in pages while others write 200 times a second and the server compacts its history.

All pages of a list are of one snapshot: together they equal the list at exactly their version. When the history of a
version is gone, the answer is 410 with a token that continues with the present objects behind the last one.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import count, takewhile
from typing import Any

import aiohttp
import orjson

from tests.reliability import histories
from tests.reliability.churn import Churn
from tests.reliability.histories import MAPS, Replica
from tests.reliability.informers import json_of
from tests.reliability.outcomes import Outcome

_CLIENTS = 10
_PAUSES = (0.0, 0.0, 0.01, 0.05)
"""The seconds between two pages."""
_SLOW = 5
"""In one of so many lists, the second page is asked for when the history of the first one is gone."""
_POLL = 0.05
_GONE = 410
_EQUAL = "lists equal to their version"


async def run(replicas: Sequence[Replica], *, lists: int, seed: int) -> Outcome:
    """So many lists in pages, and more until one is compared before its version is compacted. Raises AssertionError.

    The servers compact twice a second or so.
    """
    async with AsyncExitStack() as stack:
        sessions = [await stack.enter_async_context(histories.session(replica, seconds=None)) for replica in replicas]
        churn = Churn(sessions, seed)
        await churn.begin()
        seen: Counter[str] = Counter()
        left = takewhile(lambda number: number < lists or not seen[_EQUAL], count())
        async with churn.writing(), asyncio.TaskGroup() as tasks:
            for number in range(_CLIENTS):
                tasks.create_task(_work(left, sessions, churn, random.Random(f"{seed} {number}"), seen))
    counts = {"lists": seen.total(), **seen, "writes": churn.writes, "lists with a gap or a duplicate": 0}
    return Outcome(counts, moments=churn.latencies.moments())


async def _work(
    left: Any, sessions: Sequence[aiohttp.ClientSession], churn: Churn, chance: random.Random, seen: Counter[str]
) -> None:
    for number in left:
        seen[await _list(chance.choice(sessions), churn, chance, is_slow=number % _SLOW == 0)] += 1


async def _list(session: aiohttp.ClientSession, churn: Churn, chance: random.Random, *, is_slow: bool) -> str:
    """One list in pages. Returns how it went."""
    limit, pause = str(chance.randint(1, 20)), chance.choice(_PAUSES)
    items: list[Any] = []
    versions: list[str] = []
    params = {"limit": limit}
    is_continued = False
    while True:
        status, page = await _get(session, params)
        if status == _GONE:
            params, is_continued = {"limit": limit, "continue": page["metadata"]["continue"]}, True
            continue
        assert status == 200, page
        items += page["items"]
        versions.append(page["metadata"]["resourceVersion"])
        if not (token := page["metadata"].get("continue")):
            break
        params = {"limit": limit, "continue": token}
        if is_slow and not is_continued:
            await _until_gone(session, versions[0])
        await asyncio.sleep(pause)
    names = [item["metadata"]["name"] for item in items]
    assert names == sorted(set(names)), "a duplicate, or a wrong order"
    assert set(churn.lasting) <= set(names), "a gap"
    if is_continued:
        return "lists continued after 410"
    assert len(set(versions)) == 1, f"pages of several snapshots: {versions}"
    return await _compare(session, items, versions[0])


async def _compare(session: aiohttp.ClientSession, items: Sequence[Any], version: str) -> str:
    status, exact = await _get(session, {"resourceVersion": version, "resourceVersionMatch": "Exact"})
    if status == _GONE:
        return "lists whose version was compacted before the comparison"
    assert status == 200, exact
    assert list(map(json_of, items)) == list(map(json_of, exact["items"])), f"the pages differ from {version}"
    return _EQUAL


async def _until_gone(session: aiohttp.ClientSession, version: str) -> None:
    exact = {"resourceVersion": version, "resourceVersionMatch": "Exact", "limit": "1"}
    while (await _get(session, exact))[0] != _GONE:  # noqa: ASYNC110 - the server tells no client
        await asyncio.sleep(_POLL)


async def _get(session: aiohttp.ClientSession, params: dict[str, str]) -> tuple[int, Any]:
    async with session.get(MAPS, params=params) as response:
        return response.status, orjson.loads(await response.read())
