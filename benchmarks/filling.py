"""filling: fills a data directory with many objects, faster than a server takes them.

A server stores one object as a client has sent it. Its copies, under names and uids of their own, are then loaded into
the file as a restore does it. Must hold: a server cannot tell a copy from an object that it has created itself.
"""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from aio_apiserver.storage import codec
from aio_apiserver.storage.kv.sqlite import SqliteKV, loading
from aio_apiserver.storage.record import Record
from benchmarks import load, processes

_STORE = "data/store.db"
_LAST = b"\xff"

Vary = Callable[[dict[str, Any], int], None]
"""Changes a copy by its number, besides its name."""


def _as_it_is(_copy: dict[str, Any], _number: int) -> None:
    """All copies are alike."""


async def fill(directory: Path, creation: bytes, key: str, count: int, vary: Vary = _as_it_is) -> None:
    """Make a data directory with so many objects. creation: the request that creates the first one, under `key`."""
    with processes.server(directory) as server:
        await load.send_all(server, [creation], at_once=1)
    kv = await SqliteKV.open(directory / "data")
    try:
        found = await kv.range(b"", _LAST)
    finally:
        await kv.close()
    _remove_store(directory)
    model = next(record for record in found.records if record.key == key.encode())
    rest = [record for record in found.records if record is not model and not record.lease]
    await loading.load(
        directory / "data",
        _filled(rest, model, found.revision, count, vary),
        revision=found.revision + count,
        lease_seconds=_no_leases,
        advance=lambda: None,
    )


def _remove_store(directory: Path) -> None:
    for file in directory.glob(f"{_STORE}*"):
        file.unlink()


def name_of(number: int) -> str:
    """The name of a copy. Names are in order of their numbers."""
    return f"copy-{number:07}"


async def _filled(rest: list[Record], model: Record, revision: int, count: int, vary: Vary) -> AsyncIterator[Record]:
    for record in rest:
        yield record
    parent, _, _ = model.key.rpartition(b"/")
    for number in range(count):
        obj = codec.MSGPACK.unpack(model.value[len(codec.MSGPACK.magic) :])
        obj["metadata"] |= {"name": name_of(number), "uid": str(uuid.UUID(int=number))}
        vary(obj, number)
        own = revision + 1 + number
        yield Record(parent + b"/" + name_of(number).encode(), codec.MSGPACK.encode(obj), own, own, 1)


def _no_leases(lease: int) -> Awaitable[int]:
    raise AssertionError(f"a record has lease {lease}")
