"""Tasks: nothing outlives its owner, and no failure is lost."""

import asyncio
import logging

import pytest

from aio_apiserver.base.tasks import Tasks


async def forever() -> None:
    await asyncio.Event().wait()


async def fail(message: str) -> None:
    raise ValueError(message)


async def test_closing_ends_what_runs_and_waits_for_its_clean_up() -> None:
    tasks = Tasks()
    steps: list[str] = []

    async def work() -> None:
        try:
            await forever()
        finally:
            await asyncio.sleep(0)
            steps.append("cleaned up")

    task = tasks.spawn(work(), name="work")
    await asyncio.sleep(0)
    await tasks.close()

    assert steps == ["cleaned up"]
    assert task.cancelled()


async def test_closing_ends_beside_a_task_that_ends_in_the_same_turn() -> None:
    tasks = Tasks()
    has_ended = asyncio.get_running_loop().create_future()

    async def work() -> None:
        has_ended.set_result(None)  # its waiter runs before the task counts as settled

    task = tasks.spawn(work(), name="work")
    await has_ended
    await tasks.close()

    assert task.done()


async def test_a_task_has_the_name_it_was_given() -> None:
    tasks = Tasks()

    task = tasks.spawn(forever(), name="reflector of pods")

    assert task.get_name() == "reflector of pods"
    await tasks.close()


async def test_a_task_that_ended_well_is_forgotten() -> None:
    tasks = Tasks()

    result = await tasks.spawn(asyncio.sleep(0, "result"), name="work")
    await tasks.close()

    assert result == "result"


async def test_a_failure_is_logged_at_once_and_raised_by_close(caplog: pytest.LogCaptureFixture) -> None:
    tasks = Tasks()

    with caplog.at_level(logging.ERROR, "aio_apiserver.base.tasks"):
        await asyncio.wait([tasks.spawn(fail("broken"), name="work")])
        await asyncio.sleep(0)

    assert [record.getMessage() for record in caplog.records] == ["task work failed"]
    with pytest.raises(ExceptionGroup) as caught:
        await tasks.close()
    assert [str(error) for error in caught.value.exceptions] == ["broken"]


async def test_all_failures_are_raised_together_and_once() -> None:
    tasks = Tasks()
    for message in ("one", "two"):
        tasks.spawn(fail(message), name=message)
    await asyncio.sleep(0)

    with pytest.raises(ExceptionGroup) as caught:
        await tasks.close()
    await tasks.close()

    assert [str(error) for error in caught.value.exceptions] == ["one", "two"]


async def test_a_failure_on_the_way_out_is_raised_too() -> None:
    tasks = Tasks()

    async def work() -> None:
        try:
            await forever()
        finally:
            await fail("in clean-up")

    tasks.spawn(work(), name="work")
    await asyncio.sleep(0)

    with pytest.raises(ExceptionGroup, match="background tasks failed"):
        await tasks.close()


async def test_who_cancels_a_task_himself_causes_no_failure() -> None:
    tasks = Tasks()
    task = tasks.spawn(forever(), name="work")
    await asyncio.sleep(0)

    task.cancel()
    await tasks.close()

    assert task.cancelled()


async def test_a_task_that_is_spawned_while_closing_ends_as_well() -> None:
    tasks = Tasks()
    late: list[asyncio.Task[None]] = []

    async def work() -> None:
        try:
            await forever()
        finally:
            late.append(tasks.spawn(forever(), name="late"))

    tasks.spawn(work(), name="work")
    await asyncio.sleep(0)
    await tasks.close()

    assert [task.cancelled() for task in late] == [True]


async def test_a_task_may_close_its_owner() -> None:
    tasks = Tasks()
    other = tasks.spawn(forever(), name="other")

    await tasks.spawn(tasks.close(), name="closer")

    assert other.cancelled()
