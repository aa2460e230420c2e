"""Large cluster: thousands of simulated nodes and pods in one server, within the limits of kwok's own benchmark.

Another client reads meanwhile. Must hold: nodes are ready, pods run and pods are gone within the limits.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from tests.apiserver import neighbours
from tests.apiserver.neighbours import LONGEST_SECONDS, Attacked

NODES_SECONDS, PODS_SECONDS, DELETION_SECONDS = 60.0, 60.0, 90.0
_PODS = "/api/v1/namespaces/default/pods"
_CREATORS = 16
_POLL_SECONDS = 0.5


async def run(directory: Path, *, nodes: int, pods: int) -> str:
    """The figures. Fails when a limit is not kept."""
    began = time.monotonic()
    flags = "--controllers=*", "--simulate", f"--simulate-nodes={nodes}"
    async with neighbours.attacked(directory, *flags) as one:
        told = []
        for what, limit, work in (
            (f"{nodes} nodes", NODES_SECONDS, lambda: _ready(one, nodes)),
            (f"{pods} pods", PODS_SECONDS, lambda: _running(one, pods)),
            ("deletion", DELETION_SECONDS, lambda: _deleted(one)),
        ):
            told.append(await _measured(one, what, limit, work, began))
            began = time.monotonic()
    return "; ".join(told)


async def _measured(one: Attacked, what: str, limit: float, work: Callable[[], Awaitable[None]], began: float) -> str:
    waits = await one.beside(work())
    seconds = time.monotonic() - began
    found = f"{what} {seconds:.0f} of {limit:.0f} s, {one.memory} MB, {', '.join(map(str, waits))}"
    assert seconds <= limit, found
    assert all(wait.p99 <= LONGEST_SECONDS and not wait.wrong for wait in waits), found
    return found


async def _count(one: Attacked, path: str) -> int:
    """The number of objects of a list, of which one is read."""
    async with one.session.get(f"{one.url}{path}") as answer:
        found = await answer.json()
    return len(found["items"]) + int(found["metadata"].get("remainingItemCount", 0))


async def _until(is_so: Callable[[], Awaitable[bool]]) -> None:
    while True:
        if await is_so():
            return
        await asyncio.sleep(_POLL_SECONDS)


async def _ready(one: Attacked, nodes: int) -> None:
    """Wait until all nodes exist, and none has the taint of new ones."""

    async def are_ready() -> bool:
        return await _count(one, "/api/v1/nodes?limit=1") >= nodes and not await _tainted(one)

    await _until(are_ready)


async def _tainted(one: Attacked) -> bool:
    async with one.session.get(f"{one.url}/api/v1/nodes?resourceVersion=0") as answer:
        return b"node.kubernetes.io/not-ready" in await answer.read()


async def _running(one: Attacked, pods: int) -> None:
    """Create pods, and wait until every pod is in the phase Running."""
    numbers = iter(range(pods))

    async def create() -> None:
        for number in numbers:
            container = {"name": "work", "image": "busybox", "command": ["sleep", "100000"]}
            spec = {"containers": [container], "automountServiceAccountToken": False}
            status, _ = await one.create(_PODS, {"metadata": {"name": f"pod-{number}"}, "spec": spec})
            assert status == 201, status

    await asyncio.gather(*(create() for _ in range(_CREATORS)))

    async def are_running() -> bool:
        return not await _count(one, f"{_PODS}?fieldSelector=status.phase!=Running&limit=1")

    await _until(are_running)


async def _deleted(one: Attacked) -> None:
    async with one.session.delete(f"{one.url}{_PODS}") as answer:
        assert answer.status == 200, answer.status
        await answer.read()

    async def are_gone() -> bool:
        return not await _count(one, f"{_PODS}?limit=1")

    await _until(are_gone)
