"""Work that is done aside."""

import asyncio
import threading

from aio_apiserver.storage import aside


async def test_short_work_is_done_at_once() -> None:
    assert await aside.aside(threading.current_thread, aside.LONG - 1) is threading.current_thread()


async def test_long_work_is_done_elsewhere() -> None:
    assert await aside.aside(threading.current_thread, aside.LONG) is not threading.current_thread()


async def test_one_piece_of_long_work_is_done_at_a_time() -> None:
    under_way = 0
    most = 0

    def work() -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        under_way -= 1

    await asyncio.gather(*(aside.in_a_thread(work) for _ in range(20)))

    assert most == 1


async def test_failures_come_back() -> None:
    async def failing() -> str:
        try:
            await aside.of_size(aside.LONG)(lambda: 1 // 0)
        except ZeroDivisionError:
            return "failed"
        return "done"

    assert await failing() == "failed"
