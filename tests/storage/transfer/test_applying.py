"""Making one store equal to another by the kv contract: on memory, SQLite and a real etcd."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from aio_apiserver.storage.errors import Compacted, InvalidOptions
from aio_apiserver.storage.factory import unfinished_copy
from aio_apiserver.storage.factory.unfinished_copy import UnfinishedCopy
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.interface import KV
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.transfer import applying
from aio_apiserver.storage.transfer.contents import contents_of
from tests.storage.kv.etcd_server import Member
from tests.storage.transfer.copies import PREFIX, Copy, data_dir, delete, fill, in_directory, key, nothing, present, put


class Stream:
    """Records at hand."""

    def __init__(self, copy: Copy, *, ends_at: int = -1) -> None:
        self.prefix = b"/registry/"
        self.revision = copy.revision
        self._records = copy.records
        self._ends_at = ends_at

    async def records(self) -> AsyncIterator[Record]:
        for number, record in enumerate(self._records):
            if number == self._ends_at:
                raise InterruptedError("killed")
            yield record

    async def lease_seconds(self, _lease: int) -> int:
        return 60


@pytest.fixture(scope="module")
def member() -> Iterator[Member]:
    with Member() as started:
        yield started


@pytest.fixture(params=["memory", "sqlite", "etcd"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[KV]:
    if request.param == "sqlite":
        async with data_dir(tmp_path / "target") as kv:
            yield kv
        return
    if request.param == "memory":
        memory = MemoryKV()
        yield memory
        await memory.close()
        return
    etcd = EtcdKV(EtcdConfig(endpoints=[request.getfixturevalue("member").endpoint]))
    for record in (await etcd.range(b"/", b"0")).records:
        await etcd.delete(record.key, expected_mod_revision=record.mod_revision)
    yield etcd
    await etcd.close()


@pytest.fixture
async def source(tmp_path: Path) -> Copy:
    async with data_dir(tmp_path / "source") as kv:
        await fill(kv, 300)
        await put(kv, "event", b"event", lease=await kv.grant_lease(60))
    return await in_directory(tmp_path / "source")


async def values(kv: KV) -> dict[bytes, bytes]:
    return {record.key: record.value for record in (await kv.range(b"/registry/", b"/registry0")).records}


async def test_the_history_of_a_new_store_begins_behind_the_copy(store: KV, source: Copy) -> None:
    await applying.apply(Stream(source), store, replace=False, advance=nothing)

    with pytest.raises(Compacted):
        await store.get(key("00000"), revision=source.revision)


async def test_a_store_is_refused_until_its_copy_is_complete(store: KV, source: Copy) -> None:
    with pytest.raises(InterruptedError):
        await applying.apply(Stream(source, ends_at=200), store, replace=False, advance=nothing)
    with pytest.raises(UnfinishedCopy, match="run the same `apiserver restore` or `apiserver migrate` again"):
        await unfinished_copy.refuse(store, PREFIX)

    await applying.apply(Stream(source), store, replace=False, advance=nothing)

    await unfinished_copy.refuse(store, PREFIX)


async def test_an_empty_store_becomes_equal_and_no_revision_is_older_than_before(store: KV, source: Copy) -> None:
    done = await applying.apply(Stream(source), store, replace=False, advance=nothing)

    assert await values(store) == source.values
    assert (done.written, done.deleted) == (301, 0)
    records = {record.key: record for record in (await store.range(b"/registry/", b"/registry0")).records}
    assert min(record.mod_revision for record in records.values()) > source.revision
    assert records[key("event")].lease
    assert not records[key("00001")].lease


async def test_a_copy_that_was_killed_continues_where_it_stopped(store: KV, source: Copy) -> None:
    with pytest.raises(InterruptedError):
        await applying.apply(Stream(source, ends_at=280), store, replace=False, advance=nothing)

    done = await applying.apply(Stream(source), store, replace=False, advance=nothing)

    assert await values(store) == source.values
    assert done.equal == 256
    assert done.written == 45


async def test_a_store_with_objects_is_replaced_on_request_alone(store: KV, source: Copy) -> None:
    await put(store, "00001", b"other")
    await put(store, "zzz", b"more")
    with pytest.raises(InvalidOptions, match="has objects already"):
        await applying.apply(Stream(source), store, replace=False, advance=nothing)

    done = await applying.apply(Stream(source), store, replace=True, advance=nothing)

    assert await values(store) == source.values
    assert done.deleted == 1


async def test_an_older_state_comes_back_under_new_revisions(store: KV) -> None:
    await fill(store, 3)
    old = Copy(list((await store.range(b"/registry/", b"/registry0")).records), await store.current_revision())
    await put(store, "00001", b"newer")
    await delete(store, "00002")
    newest = await store.current_revision()

    await applying.apply(Stream(old), store, replace=True, advance=nothing)

    found = {record.key: record for record in (await store.range(b"/registry/", b"/registry0")).records}
    assert {name: record.value for name, record in found.items()} == old.values
    assert found[key("00001")].mod_revision > newest
    assert found[key("00000")].mod_revision == old.records[0].mod_revision


async def test_etcd_is_read_at_one_revision_with_the_time_of_its_leases(member: Member) -> None:
    etcd = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
    try:
        await put(etcd, "leased", b"", lease=await etcd.grant_lease(60))
        contents = await contents_of(etcd, PREFIX)
        await put(etcd, "later", b"")
        found = await present(contents)
        (record,) = (one for one in found.records if one.lease)
        seconds = await contents.lease_seconds(record.lease)
    finally:
        await etcd.close()

    assert key("later") not in found.values
    assert 50 < seconds <= 60
