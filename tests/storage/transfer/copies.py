"""Steps for tests of copies: stores with a few keys, and what is in a store."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.kv.interface import KV
from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.storage.kv.sqlite.file_reader import FileReader
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.transfer.contents import Contents, contents_of, directory_of
from tests.storage.kv.steps import written

PREFIX = "/registry"


def key(name: str) -> bytes:
    return directory_of(PREFIX) + b"configmaps/" + name.encode()


@asynccontextmanager
async def data_dir(path: Path) -> AsyncIterator[SqliteKV]:
    kv = await SqliteKV.open(path, clock=ManualClock())
    try:
        yield kv
    finally:
        await kv.close()


async def put(kv: KV, name: str, value: bytes, *, lease: int = 0) -> Record:
    present = (await kv.get(key(name))).record
    expected = present.mod_revision if present else 0
    result = await kv.put(key(name), value, expected_mod_revision=expected, lease=lease)
    return written(key(name), value, result, before=present, lease=lease)


async def delete(kv: KV, name: str) -> None:
    record = (await kv.get(key(name))).record
    assert record is not None
    await kv.delete(key(name), expected_mod_revision=record.mod_revision)


async def fill(kv: KV, count: int) -> None:
    await asyncio.gather(*(put(kv, f"{number:05}", b"value %d" % number) for number in range(count)))


class Copy(Struct, frozen=True):
    """What is in a store, and its revision."""

    records: list[Record]
    revision: int

    @property
    def values(self) -> dict[bytes, bytes]:
        return {record.key: record.value for record in self.records}


async def present(contents: Contents) -> Copy:
    return Copy([record async for record in contents.records()], contents.revision)


async def in_directory(path: Path) -> Copy:
    """What is in a data directory, read beside the process that uses it."""
    reader = FileReader(path)
    try:
        return await present(await contents_of(reader, PREFIX))
    finally:
        await reader.close()


def nothing() -> None:
    """The progress of a test."""
