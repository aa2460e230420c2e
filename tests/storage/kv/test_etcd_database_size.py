"""Database size: etcd is asked from time to time, and without an answer there is no size."""

import asyncio

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.etcd.database_size import DatabaseSize
from tests.storage.kv.etcd_server import Member

INTERVAL = 30.0
PATIENCE = 60.0


class Asked:
    """Measures an etcd, and says when it has."""

    def __init__(self, kv: EtcdKV) -> None:
        self._kv = kv
        self._done = asyncio.Event()

    async def measure(self) -> int:
        try:
            return await self._kv.database_bytes()
        finally:
            self._done.set()

    async def once(self) -> None:
        await self._done.wait()
        self._done.clear()
        await asyncio.sleep(0)


async def test_the_size_is_measured_at_once_and_again_and_lost_with_etcd() -> None:
    clock = ManualClock()
    with Member() as member:
        kv = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
        asked = Asked(kv)
        size = DatabaseSize(asked.measure, clock, interval=INTERVAL)
        assert size.statistics() == {}

        size.start()
        await asked.once()
        first = size.statistics()["bytes"]
        assert first > 0
        await kv.put(b"/large", bytes(1_000_000), expected_mod_revision=0)
        async with asyncio.timeout(PATIENCE):
            while size.statistics().get("bytes", first) == first:  # etcd writes its database a little later
                clock.advance(INTERVAL)
                await asked.once()

        assert size.statistics()["bytes"] > first
    clock.advance(INTERVAL)
    await asked.once()

    assert size.statistics() == {}
    await size.close()
    await kv.close()
