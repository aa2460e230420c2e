import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.controllers.runtime.work_queue import WorkQueue


@dataclass(frozen=True)
class Bench:
    clock: ManualClock
    queue: WorkQueue

    async def advance(self, seconds: float) -> None:
        """Advance the time, and let all tasks run."""
        await asyncio.sleep(0)
        self.clock.advance(seconds)
        for _ in range(3):
            await asyncio.sleep(0)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    clock, tasks = ManualClock(), Tasks()
    yield Bench(clock, WorkQueue(clock, tasks))
    await tasks.close()


async def test_a_key_is_looked_at_once_however_often_it_was_said(bench: Bench) -> None:
    for key in ("a", "b", "a"):
        bench.queue.add(key)

    assert [await bench.queue.take(), await bench.queue.take()] == ["a", "b"]
    assert len(bench.queue) == 0


async def test_what_is_said_of_a_key_in_work_waits_until_it_is_done(bench: Bench) -> None:
    bench.queue.add("a")
    await bench.queue.take()

    bench.queue.add("a")
    assert len(bench.queue) == 0

    bench.queue.done("a")
    assert await bench.queue.take() == "a"


async def test_a_worker_waits_for_work(bench: Bench) -> None:
    working = asyncio.ensure_future(bench.queue.take())
    await asyncio.sleep(0)
    assert not working.done()

    bench.queue.add("a")

    assert await working == "a"


async def test_of_two_times_the_earlier_one_counts(bench: Bench) -> None:
    bench.queue.add_after("a", 10)
    bench.queue.add_after("a", 5)
    bench.queue.add_after("a", 7)

    await bench.advance(5)
    assert len(bench.queue) == 1

    await bench.queue.take()
    bench.queue.done("a")
    await bench.advance(10)
    assert len(bench.queue) == 0


async def test_failures_wait_longer_each_time_until_one_works(bench: Bench) -> None:
    for pause in (0.02, 0.04, 0.08):
        bench.queue.retry("a")
        await bench.advance(pause - 0.01)
        assert len(bench.queue) == 0
        await bench.advance(0.01)
        assert await bench.queue.take() == "a"
        bench.queue.done("a")

    bench.queue.forget("a")
    bench.queue.retry("a")
    await bench.advance(0.02)

    assert len(bench.queue) == 1


async def test_a_queue_is_idle_when_only_time_brings_something(bench: Bench) -> None:
    bench.queue.add_after("tomorrow", 86_400)

    assert bench.queue.is_idle


async def test_a_queue_is_not_idle_before_what_failed_was_done_again(bench: Bench) -> None:
    bench.queue.retry("a")
    before = bench.queue.is_idle
    await bench.advance(0.02)
    key = await bench.queue.take()
    during = bench.queue.is_idle
    bench.queue.done(key)

    assert [before, during, bench.queue.is_idle] == [False, False, True]
