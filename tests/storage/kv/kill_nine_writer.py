"""A program that writes until it is killed, and prints what it tries and what was acknowledged.

    python -m tests.storage.kv.kill_nine_writer ENGINE WHERE SEED

    start                  before the store is opened
    open REVISION          the store is open; history before REVISION is compacted now
    try KEY NUMBER         a put of `payload(KEY, NUMBER)` begins; NUMBER 0 deletes
    ack KEY REVISION       the last try of KEY is acknowledged

Each line is one write to the pipe, so that all lines before the kill are read.
"""

import asyncio
import contextlib
import os
import random
import sys
from pathlib import Path

from aio_apiserver.storage.errors import Compacted
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.interface import KV, WriteResult, prefix_end
from aio_apiserver.storage.kv.sqlite import SqliteKV
from aio_apiserver.storage.record import Record
from tests.storage.kv.steps import written

PREFIX = b"/kill-nine/"
WRITERS = 8
KEYS_PER_WRITER = 10


def payload(key: bytes, number: int) -> bytes:
    """The value of this number: 20 bytes to 6 kB, different for each."""
    return b"%s is %d\n" % (key, number) * (1 + number * 7919 % 251)


async def open_engine(engine: str, where: str) -> KV:
    """The engine's view of the store: a directory for sqlite, an endpoint for etcd."""
    if engine == "sqlite":
        return await SqliteKV.open(Path(where))
    return EtcdKV(EtcdConfig(endpoints=[where]))


def say(*words: object) -> None:
    os.write(sys.stdout.fileno(), " ".join(map(str, words)).encode() + b"\n")


async def write(kv: KV, keys: list[bytes], state: dict[bytes, Record], rng: random.Random) -> None:
    """Put and delete without end. No other process writes these keys."""
    while True:
        key = rng.choice(keys)
        current = state.get(key)
        number = rng.randrange(1, 1_000_000_000)
        is_deletion = current is not None and rng.random() < 0.2
        say("try", key.decode(), 0 if is_deletion else number)
        result = await _delete(kv, current) if current and is_deletion else await _put(kv, key, current, number)
        assert result.succeeded
        say("ack", key.decode(), result.revision)
        if is_deletion:
            del state[key]
        else:
            state[key] = written(key, payload(key, number), result, before=current)


async def main(engine: str, where: str, seed: int) -> None:
    say("start")
    rng = random.Random(seed)
    kv = await open_engine(engine, where)
    found = await kv.range(PREFIX, prefix_end(PREFIX))
    with contextlib.suppress(Compacted):  # the run before was killed before it wrote
        await kv.compact(found.revision)
    say("open", found.revision)
    state = {record.key: record for record in found.records}
    async with asyncio.TaskGroup() as writers:
        for writer in range(WRITERS):
            keys = [PREFIX + b"%d/%d" % (writer, number) for number in range(KEYS_PER_WRITER)]
            writers.create_task(write(kv, keys, state, random.Random(rng.random())))


async def _put(kv: KV, key: bytes, current: Record | None, number: int) -> WriteResult:
    expected = current.mod_revision if current else 0
    return await kv.put(key, payload(key, number), expected_mod_revision=expected)


async def _delete(kv: KV, current: Record) -> WriteResult:
    return await kv.delete(current.key, expected_mod_revision=current.mod_revision)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
