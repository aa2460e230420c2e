"""The etcd engine on three members of which one is killed, silent or cut off: nothing is lost, repeated or stuck."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from aio_apiserver.storage.errors import DeadlineExceeded, Unavailable
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.interface import KV, Event
from aio_apiserver.storage.record import Record
from tests.storage.kv.etcd_cluster import leader_of, peer_network, until
from tests.storage.kv.etcd_server import Cluster, Member
from tests.storage.kv.steps import create, read, take, take_until, update


@pytest.fixture
def cluster(etcd_binary: Path) -> Iterator[Cluster]:
    with Cluster(binary=etcd_binary) as cluster:
        yield cluster


@asynccontextmanager
async def engine(*endpoints: str, deadline: float = 15.0) -> AsyncIterator[EtcdKV]:
    kv = EtcdKV(EtcdConfig(endpoints=endpoints, deadline=deadline))
    try:
        yield kv
    finally:
        await kv.close()


@pytest.fixture
async def kv(cluster: Cluster) -> AsyncIterator[EtcdKV]:
    async with engine(*cluster.endpoints, deadline=4.0) as kv:
        yield kv


def stream_member(kv: EtcdKV, cluster: Cluster) -> Member:
    """The member that the watches are on."""
    url = kv.statistics()["watches"]["endpoint"]
    (member,) = [member for member in cluster.members if member.endpoint == url]
    return member


@dataclass(slots=True)
class Load:
    """Writers of new keys and of one counter that go on during faults, and their confirmed writes."""

    kv: KV
    created: list[Record] = field(default_factory=list)
    increments: int = 0
    unknown_increments: int = 0
    unknown_keys: set[bytes] = field(default_factory=set)
    progress: asyncio.Event = field(default_factory=asyncio.Event)
    is_over: bool = False

    async def create_keys(self, writer: int) -> None:
        number = 0
        while not self.is_over:
            key = b"/load/keys/%d-%05d" % (writer, number)
            number += 1
            try:
                self.created.append(await create(self.kv, key))
                self.progress.set()
            except DeadlineExceeded:
                self.unknown_keys.add(key)
            except Unavailable:
                continue  # and the key does not exist

    async def increment(self) -> None:
        """All writers write the same bytes on the same revision, so that a wrong conclusion shows."""
        while not self.is_over:
            try:
                current = await read(self.kv, b"/load/counter")
            except Unavailable:
                continue
            assert current is not None
            value = b"%d" % (int(current.value) + 1)
            try:
                result = await self.kv.put(current.key, value, expected_mod_revision=current.mod_revision)
                self.increments += result.succeeded
            except DeadlineExceeded:
                self.unknown_increments += 1
            except Unavailable:
                continue  # and nothing was written

    async def wait_for_creates(self, count: int) -> None:
        goal = len(self.created) + count
        while len(self.created) < goal:
            self.progress.clear()
            await self.progress.wait()


class TestKilledLeader:
    async def test_no_acknowledged_write_is_lost_and_none_is_made_twice(self, cluster: Cluster, kv: EtcdKV) -> None:
        start = await create(kv, b"/load/counter", b"0")
        load = Load(kv)
        async with asyncio.timeout(60), asyncio.TaskGroup() as writers:
            for writer in range(8):
                writers.create_task(load.create_keys(writer))
                writers.create_task(load.increment())
            await load.wait_for_creates(200)
            await asyncio.to_thread((await leader_of(cluster)).kill)
            await load.wait_for_creates(200)
            load.is_over = True
        last = await create(kv, b"/load/last")
        async with kv.watch(b"/load/", b"/load0", revision=start.mod_revision) as replay:
            replayed = await take_until(replay, last.mod_revision)

        stored = {record.key: record for record in (await kv.range(b"/load/", b"/load0")).records}
        assert [stored[record.key] for record in load.created] == load.created
        unacknowledged = stored.keys() - {record.key for record in load.created} - {b"/load/counter", b"/load/last"}
        assert unacknowledged <= load.unknown_keys
        counter = stored[b"/load/counter"]
        assert load.increments <= int(counter.value) <= load.increments + load.unknown_increments
        assert counter.version == int(counter.value) + 1
        assert state_after(replayed) == stored

    async def test_a_watch_sees_everything_once(self, cluster: Cluster, kv: EtcdKV) -> None:
        start = await create(kv, b"/load/counter", b"0")
        load = Load(kv)
        async with kv.watch(b"/load/", b"/load0", revision=start.mod_revision) as batches:
            async with asyncio.timeout(60), asyncio.TaskGroup() as writers:
                for writer in range(8):
                    writers.create_task(load.create_keys(writer))
                await load.wait_for_creates(100)
                await asyncio.to_thread(stream_member(kv, cluster).kill)
                await load.wait_for_creates(100)
                load.is_over = True
            last = await create(kv, b"/load/last")
            live = await take_until(batches, last.mod_revision)
        async with kv.watch(b"/load/", b"/load0", revision=start.mod_revision) as replay:
            replayed = await take_until(replay, last.mod_revision)

        assert live == replayed
        assert kv.statistics()["watches"]["breaks"] >= 1


class TestMembersComeAndGo:
    async def test_requests_go_on_without_a_member_and_return_to_it(self, cluster: Cluster, kv: EtcdKV) -> None:
        record = await create(kv, b"a")
        leader = await leader_of(cluster)
        away, other = [member for member in cluster.members if member is not leader]
        await asyncio.to_thread(away.kill)

        without = await asyncio.gather(*[read(kv, b"a") for _ in range(10)])
        down = list(kv.statistics()["endpoints"]["down"])
        await asyncio.to_thread(away.start)
        await until(lambda: len(kv.statistics()["endpoints"]["up"]) == 3)
        await asyncio.to_thread(other.kill)
        with_the_returned = await asyncio.gather(*[read(kv, b"a") for _ in range(10)])
        last = await update(kv, record)

        assert without == with_the_returned == [record] * 10
        assert down == [away.endpoint]
        assert await read(kv, b"a") == last

    async def test_a_silent_member_does_not_hold_up_reads(self, cluster: Cluster) -> None:
        leader = await leader_of(cluster)
        silent = next(member for member in cluster.members if member is not leader)
        async with engine(*cluster.endpoints, deadline=3.0) as kv:
            record = await create(kv, b"a")
            silent.pause()

            found = await asyncio.gather(*[read(kv, b"a") for _ in range(9)])
            silent.resume()

        assert found == [record] * 9

    async def test_a_watch_leaves_a_silent_member(self, cluster: Cluster) -> None:
        async with engine(*cluster.endpoints, deadline=3.0) as kv:
            record = await create(kv, b"a")
            async with kv.watch(b"a", b"b", revision=record.mod_revision) as batches:
                await take(batches, 1)
                silent = stream_member(kv, cluster)
                others = [member.endpoint for member in cluster.members if member is not silent]
                silent.pause()
                async with engine(*others) as direct:
                    await direct.current_revision()  # waits for a leader
                    changed = await update(direct, record)
                await asyncio.gather(*[read(kv, b"a") for _ in range(3)])

                seen = await take(batches, 1)
                silent.resume()

        assert [event.record for event in seen] == [changed]

    async def test_without_a_majority_requests_fail_in_time_and_recover(self, cluster: Cluster) -> None:
        async with engine(*cluster.endpoints, deadline=2.0) as kv:
            record = await create(kv, b"a")
            for member in cluster.members[1:]:
                await asyncio.to_thread(member.kill)

            with pytest.raises(Unavailable):
                await kv.get(b"a")
            with pytest.raises(Unavailable):
                await update(kv, record)
            health = await kv.health()
            await asyncio.to_thread(cluster.members[1].start)
            await until(lambda: len(kv.statistics()["endpoints"]["up"]) == 2)

            assert not health.healthy
            assert (await update(kv, record)).version == 2


class TestPartition:
    async def test_a_member_that_is_cut_off_is_left_until_it_is_back(self, etcd_binary: Path) -> None:
        async with peer_network(etcd_binary) as network, engine(*network.cluster.endpoints, deadline=4.0) as kv:
            record = await create(kv, b"a")
            async with kv.watch(b"a", b"b", revision=record.mod_revision) as batches:
                written = [record, await update(kv, record)]
                isolated = stream_member(kv, network.cluster)
                connected = [member.endpoint for member in network.cluster.members if member is not isolated]
                await network.isolate(isolated)
                async with engine(*connected) as direct:
                    await direct.current_revision()  # waits for a leader
                    for _ in range(5):
                        written.append(await update(direct, written[-1]))
                found = await asyncio.gather(*[read(kv, b"a") for _ in range(9)])

                seen = await take(batches, len(written))
                left = list(kv.statistics()["endpoints"]["down"])
                moved_to = stream_member(kv, network.cluster)
                network.heal()
                await until(lambda: not kv.statistics()["endpoints"]["down"])
                async with engine(*network.cluster.endpoints) as direct:  # the members may choose a leader once more
                    last = await update(direct, written[-1])

                assert [event.record for event in await take(batches, 1)] == [last]

        assert [event.record for event in seen] == written
        assert found == [written[-1]] * 9
        assert left == [isolated.endpoint]
        assert moved_to is not isolated


def state_after(events: list[Event]) -> dict[bytes, Record]:
    """The final state after all events."""
    state: dict[bytes, Record] = {}
    for event in events:
        assert event.previous == state.get(event.record.key)
        state[event.record.key] = event.record
    return state
