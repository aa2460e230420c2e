"""The etcd engine's one watch stream: fragments, callers that sleep, progress, and many watches through a restart."""

import asyncio
from contextlib import AsyncExitStack

from aio_apiserver.storage.kv.etcd import EtcdKV, versions
from aio_apiserver.storage.kv.interface import MAX_VALUE_BYTES, EventType, prefix_end
from tests.storage.kv.etcd_cluster import status_of, until
from tests.storage.kv.etcd_server import Member
from tests.storage.kv.steps import create, next_batch, next_events, take, update


class TestFragments:
    async def test_a_revision_that_comes_in_fragments_is_one_batch(self, kv: EtcdKV) -> None:
        lease = await kv.grant_lease(1000)
        records = [await create(kv, b"/many/%02d" % number, bytes(200_000), lease=lease) for number in range(40)]
        start = records[-1].mod_revision + 1
        async with kv.watch(b"/many/", b"/many0", revision=start) as live:
            await kv.revoke_lease(lease)
            last = await create(kv, b"/many/last")

            batch = await next_events(live)
            after = await next_events(live)
        async with kv.watch(b"/many/", b"/many0", revision=start) as replay:
            replayed = await take(replay, 41)

        assert [event.type for event in batch.events] == [EventType.DELETE] * 40
        assert [event.previous for event in batch.events] == records
        assert [event.record for event in after.events] == [last]
        assert replayed == [*batch.events, *after.events]

    async def test_a_replay_that_comes_in_fragments_is_complete(self, kv: EtcdKV) -> None:
        records = [await create(kv, b"a", bytes(700_000))]
        for _ in range(20):
            records.append(await update(kv, records[-1], bytes(700_000)))

        async with kv.watch(b"a", b"b", revision=records[0].mod_revision) as batches:
            events = await take(batches, len(records))

        assert [event.record for event in events] == records


class TestSlowCallers:
    async def test_a_watch_that_nobody_reads_is_put_aside_and_misses_nothing(self, kv: EtcdKV) -> None:
        record = await create(kv, b"a", b"")
        written = [record.mod_revision]
        async with (
            kv.watch(b"a", b"b", revision=record.mod_revision) as asleep,
            kv.watch(b"a", b"b", revision=record.mod_revision) as awake,
        ):
            await take(awake, 1)
            for _ in range(40):
                record = await update(kv, record, bytes(MAX_VALUE_BYTES))
                written.append(record.mod_revision)
                await take(awake, 1)
            held = kv.statistics()["watches"]

            events = await take(asleep, len(written))

        assert [event.record.mod_revision for event in events] == written
        assert held["full_watches"] == 1
        assert held["queued_batches"] < 20


class TestProgress:
    async def test_its_reliability_is_known_from_the_version(self, kv: EtcdKV, member: Member) -> None:
        is_reliable = versions.is_progress_reliable(versions.parse((await status_of(member)).version))

        await until(lambda: kv.has_reliable_progress == is_reliable)

        assert (await kv.health()).healthy

    async def test_a_watch_from_the_future_does_not_hold_it_up(self, kv: EtcdKV) -> None:
        record = await create(kv, b"/elsewhere/a")
        future = record.mod_revision + 1_000
        async with (
            kv.watch(b"/quiet/", b"/quiet0", revision=record.mod_revision) as quiet,
            kv.watch(b"/later/", b"/later0", revision=future) as later,
            kv.watch(b"/next/", b"/next0", revision=record.mod_revision + 1) as soon,
        ):
            await kv.request_progress()

            batch = await next_batch(quiet)
            await next_batch(later)
            await next_batch(soon)
            await create(kv, b"/later/too early")
            event = await create(kv, b"/next/a")
            assert [event.record for event in await take(soon, 1)] == [event]

        assert (batch.is_progress, batch.revision) == (True, record.mod_revision)

    async def test_it_comes_after_a_restart_too(self, kv: EtcdKV, member: Member) -> None:
        record = await create(kv, b"/elsewhere/a")
        async with kv.watch(b"/quiet/", b"/quiet0", revision=record.mod_revision) as quiet:
            await asyncio.to_thread(member.kill)
            await kv.request_progress()
            await asyncio.to_thread(member.start)

            batch = await next_batch(quiet)

        assert batch.is_progress
        assert batch.revision >= record.mod_revision


class TestManyWatches:
    async def test_all_of_them_go_on_after_a_restart(self, kv: EtcdKV, member: Member) -> None:
        async with AsyncExitStack() as stack:
            watches = [
                await stack.enter_async_context(kv.watch(scope, prefix_end(scope), revision=2))
                for scope in (b"/%03d/" % number for number in range(200))
            ]
            before = [await create(kv, b"/%03d/before" % number) for number in range(0, 200, 20)]
            await asyncio.to_thread(member.restart)
            after = [await create(kv, b"/%03d/after" % number) for number in range(0, 200, 20)]

            seen = [await take(batches, 2) for batches in watches[::20]]

        assert [[event.record for event in events] for events in seen] == [
            list(pair) for pair in zip(before, after, strict=True)
        ]
