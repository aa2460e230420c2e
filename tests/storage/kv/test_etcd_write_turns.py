"""Writes on etcd beside reads: they wait while a read asks etcd, and go on one after the other when etcd has confirmed
them together.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest

from aio_apiserver.base.clock import SystemClock
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.write_turns import WriteTurns
from tests.storage.kv.etcd_server import Member
from tests.storage.kv.steps import create
from tests.storage.steps import in_time

NOW = SystemClock().monotonic
KEY = b"/registry/a"


@pytest.fixture
def turns() -> WriteTurns:
    """Those of a server with reads. A question holds writes back until it is answered."""
    turns = WriteTurns(held_seconds=60)
    turns.read_at = float("inf")
    return turns


@pytest.fixture
async def beside_reads(member: Member, turns: WriteTurns) -> AsyncIterator[EtcdKV]:
    kv = EtcdKV(EtcdConfig(endpoints=[member.endpoint]), turns=turns)
    await kv.get(KEY)
    yield kv
    await kv.close()


async def test_writes_wait_while_a_read_asks_etcd(beside_reads: EtcdKV, turns: WriteTurns) -> None:
    asking = asyncio.create_task(beside_reads.newest([KEY]))
    await asyncio.sleep(0)

    turn = turns.begin_write(NOW())
    assert turn is not None
    was_waiting = not turn.done()
    await in_time(asking)
    await in_time(turn)

    assert was_waiting


async def test_writes_go_on_when_a_read_has_failed(beside_reads: EtcdKV, turns: WriteTurns) -> None:
    asking = asyncio.create_task(beside_reads.newest([KEY]))
    await asyncio.sleep(0)

    turn = turns.begin_write(NOW())
    asking.cancel()

    assert turn is not None
    await in_time(turn)


async def test_writes_that_etcd_confirms_together_go_on_in_a_turn_each(beside_reads: EtcdKV) -> None:
    loop = asyncio.get_running_loop()
    turn, ended = 0, list[int]()

    def count() -> None:
        nonlocal turn
        turn += 1
        if len(ended) < 20:
            loop.call_soon(count)

    async def write(number: int) -> None:
        await create(beside_reads, b"%s%d" % (KEY, number))
        ended.append(turn)

    count()
    await in_time(asyncio.gather(*map(write, range(20))))

    assert len(set(ended)) == 20
