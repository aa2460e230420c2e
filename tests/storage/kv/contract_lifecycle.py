"""Health and the end of an engine in the kv contract."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from aio_apiserver.storage.errors import Closed
from aio_apiserver.storage.kv.interface import KV, prefix_end
from tests.storage.kv.steps import create, next_batch, next_events, take

CALLS: dict[str, Callable[[KV], Awaitable[object]]] = {
    "get": lambda kv: kv.get(b"a"),
    "range": lambda kv: kv.range(b"a", b"b"),
    "put": lambda kv: kv.put(b"a", b"value", expected_mod_revision=0),
    "delete": lambda kv: kv.delete(b"a", expected_mod_revision=2),
    "grant_lease": lambda kv: kv.grant_lease(1000),
    "revoke_lease": lambda kv: kv.revoke_lease(1),
    "request_progress": lambda kv: kv.request_progress(),
    "current_revision": lambda kv: kv.current_revision(),
    "compact": lambda kv: kv.compact(1),
}


class LifecycleContract:
    async def test_a_working_engine_is_healthy(self, kv: KV) -> None:
        health = await kv.health()

        assert (health.healthy, health.reason) == (True, "")

    async def test_a_closed_engine_says_why_it_is_not_healthy(self, kv: KV) -> None:
        await kv.close()

        health = await kv.health()

        assert not health.healthy
        assert health.reason

    @pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
    async def test_a_closed_engine_refuses_everything(self, kv: KV, call: Callable[[KV], Awaitable[object]]) -> None:
        await kv.close()

        with pytest.raises(Closed):
            await call(kv)

    async def test_a_closed_engine_opens_no_watch(self, kv: KV, prefix: bytes) -> None:
        await kv.close()

        with pytest.raises(Closed):
            async with kv.watch(prefix, prefix_end(prefix), revision=1) as batches:
                await next_events(batches)

    async def test_closing_ends_watches_that_wait(self, kv: KV, prefix: bytes) -> None:
        async with kv.watch(prefix, prefix_end(prefix), revision=await kv.current_revision() + 1) as batches:
            waiting = asyncio.create_task(next_batch(batches))
            await asyncio.sleep(0)
            await kv.close()

            with pytest.raises(Closed):
                await waiting

    async def test_closing_ends_unread_watches(self, kv: KV, prefix: bytes) -> None:
        record = await create(kv, prefix + b"a")
        async with kv.watch(prefix, prefix_end(prefix), revision=record.mod_revision) as batches:
            await take(batches, 1)
            await kv.close()

            with pytest.raises(Closed):
                await next_batch(batches)

    async def test_closing_twice_is_safe(self, kv: KV) -> None:
        await kv.close()
        await kv.close()

    async def test_closing_forgets_leases_that_still_run(self, kv: KV, prefix: bytes) -> None:
        await create(kv, prefix + b"a", lease=await kv.grant_lease(1000))

        await kv.close()

        assert not (await kv.health()).healthy
