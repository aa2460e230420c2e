"""A new data directory from records: revisions stay, and a server goes on from there."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from aio_apiserver.storage.errors import Compacted, InvalidOptions
from aio_apiserver.storage.kv.sqlite import loading
from aio_apiserver.storage.record import Record
from tests.storage.transfer.copies import Copy, data_dir, delete, fill, in_directory, key, nothing, put


async def no_lease(_lease: int) -> int:
    return 7


async def load(path: Path, copy: Copy) -> int:
    async def records() -> AsyncIterator[Record]:
        for record in copy.records:
            yield record

    return await loading.load(path, records(), revision=copy.revision, lease_seconds=no_lease, advance=nothing)


async def test_the_records_and_the_revision_of_the_store_stay(tmp_path: Path) -> None:
    async with data_dir(tmp_path / "old") as kv:
        await fill(kv, 50)
        await put(kv, "00001", b"changed")
        await delete(kv, "00002")
    old = await in_directory(tmp_path / "old")

    assert await load(tmp_path / "new", old) == 49

    assert await in_directory(tmp_path / "new") == old
    async with data_dir(tmp_path / "new") as kv:
        assert await kv.current_revision() == old.revision
        assert (await put(kv, "next", b"")).mod_revision == old.revision + 1
        with pytest.raises(Compacted):
            await kv.get(key("00001"), revision=old.revision - 1)
        await kv.compact(old.revision + 1)
    async with data_dir(tmp_path / "new") as kv:
        assert await kv.current_revision() == old.revision + 1


async def test_keys_with_a_lease_get_the_time_that_is_left(tmp_path: Path) -> None:
    record = Record(key("event"), b"", 5, 5, 1, lease=77)

    await load(tmp_path / "new", Copy([record], 9))

    (found,) = (await in_directory(tmp_path / "new")).records
    assert found.lease
    async with data_dir(tmp_path / "new") as kv:
        await kv.revoke_lease(found.lease)
        assert (await kv.get(key("event"))).record is None


async def test_a_store_is_not_overwritten_and_a_cancelled_load_leaves_none(tmp_path: Path) -> None:
    record = Record(key("one"), b"", 5, 5, 1)

    async def endless() -> AsyncIterator[Record]:
        yield record
        await asyncio.Event().wait()

    loaded = loading.load(tmp_path / "new", endless(), revision=9, lease_seconds=no_lease, advance=nothing)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(loaded, 0.01)
    await load(tmp_path / "new", Copy([record], 9))

    with pytest.raises(InvalidOptions, match="has a store already"):
        await load(tmp_path / "new", Copy([], 9))
