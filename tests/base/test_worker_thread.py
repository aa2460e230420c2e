"""Work in the worker thread."""

import asyncio
import threading
from functools import partial

import pytest

from aio_apiserver.base import worker_thread
from aio_apiserver.base.clock import ManualClock


class _Gate:
    """Work that holds the thread until the test releases it."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.may_end = threading.Event()

    def __call__(self) -> None:
        self.has_begun.set()
        self.may_end.wait(10)

    async def hold(self) -> "asyncio.Task[None]":
        task = asyncio.ensure_future(worker_thread.run(self, "first"))
        await asyncio.to_thread(self.has_begun.wait, 10)
        return task


async def test_short_work_is_done_at_once() -> None:
    done_in = await worker_thread.run_sized(threading.current_thread, worker_thread.LONG - 1, "me")

    assert done_in is threading.current_thread()


async def test_long_work_is_done_in_another_thread() -> None:
    done_in = await worker_thread.run_sized(threading.current_thread, worker_thread.LONG, "me")

    assert done_in is not threading.current_thread()


async def test_one_piece_of_long_work_is_done_at_a_time() -> None:
    under_way = 0
    most = 0

    def work() -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        under_way -= 1

    await asyncio.gather(*(worker_thread.run(work, f"user {number % 3}") for number in range(20)))

    assert most == 1


async def test_each_user_has_a_turn_before_one_has_another() -> None:
    gate, order = _Gate(), list[str]()
    held = await gate.hold()
    wanted = ["busy"] * 4 + ["other", "third", "other"]
    pieces = [asyncio.ensure_future(worker_thread.run(partial(order.append, user), user)) for user in wanted]
    await asyncio.sleep(0)

    gate.may_end.set()
    await asyncio.gather(held, *pieces)

    assert order[:3] == ["busy", "other", "third"]
    assert sorted(order) == sorted(wanted)


async def test_work_without_the_interpreter_has_the_same_shares_and_runs_beside_the_other() -> None:
    gate, order = _Gate(), list[str]()
    held = await gate.hold()
    beside = asyncio.ensure_future(worker_thread.run_without_interpreter(lambda: None, "busy"))
    wanted = ["busy"] * 3 + ["other"]
    pieces = [
        asyncio.ensure_future(worker_thread.run_without_interpreter(partial(order.append, user), user))
        for user in wanted
    ]

    await asyncio.gather(beside, *pieces)
    gate.may_end.set()
    await held

    assert order.index("other") <= 1


async def test_a_request_that_has_begun_comes_before_others_of_its_user() -> None:
    gate, order = _Gate(), list[str]()
    held = await gate.hold()

    async def request(name: str) -> None:
        run = worker_thread.runner(worker_thread.LONG, "me")
        for _ in range(3):
            await run(partial(order.append, name))

    requests = [asyncio.ensure_future(request(name)) for name in "abc"]
    await asyncio.sleep(0)
    gate.may_end.set()
    await asyncio.gather(held, *requests)

    assert "".join(order) == "aaabbbccc"


async def test_the_next_piece_of_a_short_request_comes_before_the_long_ones_of_others() -> None:
    clock, order = ManualClock(), list[str]()
    worker = worker_thread.WorkerThread(clock.monotonic)

    def work(name: str, seconds: float) -> None:
        order.append(name)
        clock.advance(seconds)

    async def short() -> None:
        for number in range(3):
            await worker.run(partial(work, f"short {number}", 0.001), "short")

    async def long() -> None:
        for number in range(2):
            await worker.run(partial(work, f"long {number}", 1.0), "long")

    await asyncio.gather(long(), short())

    assert order == ["long 0", "short 0", "short 1", "short 2", "long 1"]


async def test_work_of_a_request_that_has_ended_never_begins() -> None:
    gate, done = _Gate(), list[str]()
    held = await gate.hold()
    given_up = asyncio.ensure_future(worker_thread.run(lambda: done.append("given up"), "me"))
    other = asyncio.ensure_future(worker_thread.run(lambda: done.append("other"), "me"))
    await asyncio.sleep(0)

    given_up.cancel()
    gate.may_end.set()
    await asyncio.gather(held, other)

    assert given_up.cancelled()
    assert done == ["other"]


async def test_work_that_runs_when_its_request_ends_still_has_the_thread() -> None:
    gate = _Gate()
    held = await gate.hold()
    held.cancel()
    next_one = asyncio.ensure_future(worker_thread.run(threading.current_thread, "me"))
    await asyncio.gather(held, return_exceptions=True)

    assert not next_one.done()
    gate.may_end.set()
    await next_one


async def test_failures_come_back() -> None:
    with pytest.raises(ZeroDivisionError):
        await worker_thread.runner(worker_thread.LONG, "me")(lambda: 1 // 0)
