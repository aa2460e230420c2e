"""PromptFuture: its waiter goes on within the callback that sets the result."""

import asyncio

import pytest

from aio_apiserver.storage.kv.etcd.prompt_future import PromptFuture


class Reader:
    """A task that awaits a PromptFuture, and what happened in which order."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.answer = PromptFuture(loop=asyncio.get_running_loop())
        self.task = asyncio.create_task(self._read())

    async def _read(self) -> bytes:
        try:
            return await self.answer
        finally:
            self.order.append("the reader went on")

    def later(self, call: str) -> None:
        asyncio.get_running_loop().call_soon(self.order.append, call)


@pytest.fixture
async def reader() -> Reader:
    reader = Reader()
    await asyncio.sleep(0)
    return reader


async def test_the_reader_goes_on_before_calls_that_have_waited_longer(reader: Reader) -> None:
    def receive() -> None:
        reader.answer.set_result(b"answer")
        reader.order.append("the answer was received")

    asyncio.get_running_loop().call_soon(receive)
    reader.later("a call that has waited longer")

    assert await reader.task == b"answer"
    assert reader.order == ["the reader went on", "the answer was received", "a call that has waited longer"]


async def test_a_reader_behind_the_answer_gets_it() -> None:
    reader = Reader()
    reader.answer.set_result(b"answer")

    assert await reader.task == b"answer"


async def test_a_failure_reaches_the_reader(reader: Reader) -> None:
    reader.answer.set_exception(ConnectionError("lost"))

    with pytest.raises(ConnectionError, match="lost"):
        await reader.task


async def test_a_reader_can_be_cancelled(reader: Reader) -> None:
    reader.task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await reader.task
    assert reader.answer.cancelled()


async def test_a_failure_of_the_reader_is_its_own() -> None:
    answer = PromptFuture(loop=asyncio.get_running_loop())

    async def read() -> None:
        raise ValueError(await answer)

    reading = asyncio.create_task(read())
    await asyncio.sleep(0)
    asyncio.get_running_loop().call_soon(answer.set_result, b"answer")

    with pytest.raises(ValueError, match="answer"):
        await reading
