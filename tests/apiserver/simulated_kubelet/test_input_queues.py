"""What a program has not read of a channel's input."""

import asyncio

from aio_apiserver.apiserver.simulated_kubelet.input_queues import InputQueue


async def test_many_keys_do_not_fill_a_queue_and_are_read_together() -> None:
    queue = InputQueue()

    for _ in range(1000):
        queue.feed(b"k")

    assert not queue.is_full
    assert await queue.read() == b"k" * 1000


async def test_a_full_queue_has_room_when_the_program_has_read() -> None:
    queue = InputQueue()
    queue.feed(bytes(1024 * 1024 + 1))
    waiting = asyncio.ensure_future(queue.has_room())
    await asyncio.sleep(0)
    assert not waiting.done()

    await queue.read()

    await waiting


async def test_the_end_of_the_input_stays() -> None:
    queue = InputQueue()
    queue.feed(b"last")
    queue.feed(b"")

    assert [await queue.read() for _ in range(3)] == [b"last", b"", b""]


async def test_the_newest_size_replaces_an_unread_one() -> None:
    queue = InputQueue(keeps_newest=True)
    queue.feed(b"old")
    queue.feed(b"new")

    assert await queue.read() == b"new"
