"""NewestReads: the sole member of a cluster answers from its own state, as long as it is alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import grpc.aio
import pytest
from aetcd import rpc

from aio_apiserver.storage.errors import DeadlineExceeded, NoSpace
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from tests.storage.kv.etcd_server import Cluster, Member
from tests.storage.kv.steps import create, update
from tests.storage.kv.tcp_proxy import TcpProxy

KEY = b"/registry/a"


@pytest.fixture
async def kv(kv: EtcdKV) -> EtcdKV:
    """The engine has its connection before its first read of a revision."""
    await kv.get(KEY)
    return kv


@pytest.fixture
async def other(member: Member) -> AsyncIterator[EtcdKV]:
    engine = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
    yield engine
    await engine.close()


def reads(kv: EtcdKV) -> tuple[int, int]:
    """The linearizable reads, and those of the sole member."""
    counts = kv.statistics()["newest"]
    return counts["linearizable"], counts["serializable"]


async def add_learner(member: Member, peer: str) -> None:
    async with grpc.aio.insecure_channel(member.endpoint.removeprefix("http://")) as channel:
        await rpc.ClusterStub(channel).MemberAdd(rpc.MemberAddRequest(peerURLs=[peer], isLearner=True))


async def test_the_only_member_answers_after_one_linearizable_read(kv: EtcdKV, other: EtcdKV) -> None:
    record = await create(other, KEY)

    first = await kv.newest([KEY, b"/registry/b"])
    record = await update(other, record)
    second = await kv.newest([KEY, b"/registry/b"])

    assert list(first.mod_revisions) == [record.mod_revision - 1, 0]
    assert (second.revision, list(second.mod_revisions)) == (record.mod_revision, [record.mod_revision, 0])
    assert reads(kv) == (1, 1)


async def test_reads_of_the_only_member_see_each_write_before_them(kv: EtcdKV, other: EtcdKV) -> None:
    record = await create(other, KEY)

    for _ in range(100):
        record = await update(other, record)
        newest = await asyncio.gather(kv.newest([KEY]), kv.newest(()))
        assert [one.revision for one in newest] == [record.mod_revision] * 2
        assert list(newest[0].mod_revisions) == [record.mod_revision]

    assert reads(kv)[1] > 150


async def test_a_full_etcd_tells_its_revision(etcd_binary: Path) -> None:
    with Member(binary=etcd_binary, flags=["--quota-backend-bytes=4000000"]) as full:
        kv = EtcdKV(EtcdConfig(endpoints=[full.endpoint]))
        record = await create(kv, KEY)
        with suppress(NoSpace):
            while True:
                record = await update(kv, record, b"x" * 900_000)

        newest, found = await kv.newest([KEY]), await kv.get(KEY)
        await kv.close()

    assert found.record is not None
    assert newest.revision == found.revision
    assert list(newest.mod_revisions) in ([], [found.record.mod_revision])


async def test_a_cancelled_read_of_the_only_member_ends(kv: EtcdKV) -> None:
    await kv.newest(())
    reading = asyncio.create_task(kv.newest(()))
    await asyncio.sleep(0)

    reading.cancel()

    with pytest.raises(asyncio.CancelledError):
        await reading
    assert reads(kv) == (1, 0)


async def test_a_member_that_gets_a_companion_is_read_linearizably(kv: EtcdKV, member: Member) -> None:
    await kv.newest(())
    await kv.newest(())
    before = reads(kv)

    await add_learner(member, "http://127.0.0.1:1")
    await kv.newest(())
    await kv.newest(())

    assert (before, reads(kv)) == ((1, 1), (3, 1))


async def test_a_member_that_has_restarted_is_read_linearizably(kv: EtcdKV, other: EtcdKV, member: Member) -> None:
    await kv.newest(())
    await asyncio.to_thread(member.terminate)
    await asyncio.to_thread(member.start)
    record = await create(other, KEY)

    newest = await kv.newest([KEY])

    assert list(newest.mod_revisions) == [record.mod_revision]
    assert reads(kv) == (2, 0)


async def test_on_a_new_connection_the_member_is_read_linearizably(member: Member) -> None:
    async with TcpProxy(int(member.endpoint.rpartition(":")[2])) as proxy:
        kv = EtcdKV(EtcdConfig(endpoints=[f"http://127.0.0.1:{proxy.port}"]))
        for _ in range(2):
            await kv.get(KEY)
            await kv.newest(())
        before = reads(kv)
        proxy.disconnect()
        await asyncio.sleep(0)
        await kv.get(KEY)

        await kv.newest(())
        await kv.close()

    assert (before, reads(kv)) == ((1, 1), (2, 1))


async def test_a_silent_member_is_an_error_within_the_deadline(member: Member) -> None:
    kv = EtcdKV(EtcdConfig(endpoints=[member.endpoint], deadline=0.5))
    while reads(kv)[1] == 0:
        with suppress(DeadlineExceeded):  # a busy machine may need longer to connect
            await kv.newest(())
    member.pause()

    with pytest.raises(DeadlineExceeded):
        async with asyncio.timeout(20):
            await kv.newest(())
    member.resume()
    await kv.close()


async def test_a_cluster_of_several_members_is_read_linearizably(etcd_binary: Path) -> None:
    with Cluster(binary=etcd_binary) as cluster:
        one, all_of_them = (
            EtcdKV(EtcdConfig(endpoints=endpoints)) for endpoints in (cluster.endpoints[:1], cluster.endpoints)
        )
        for kv in (one, all_of_them):
            for _ in range(3):
                await kv.newest([KEY])
            await kv.close()

    assert (reads(one), reads(all_of_them)) == ((3, 0), (3, 0))
