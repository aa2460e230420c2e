"""Revision checks: one question to the store for the readers that wait at the same time."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from aio_apiserver.base import tracing
from aio_apiserver.base.clock import ManualClock, SystemClock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.tracing import TraceFacts, TraceLayer, TraceSpan
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.cacher.revision_check import RevisionCheck
from aio_apiserver.storage.cacher.window_memory import WindowMemory
from aio_apiserver.storage.errors import Closed, Unavailable
from aio_apiserver.storage.interface import ListOptions
from aio_apiserver.storage.kv.interface import MOST_COMPARED
from aio_apiserver.storage.stored_object import StoredObject
from tests.storage.cacher.cachers import reads, some_turns
from tests.storage.cacher.troubled import Troubled
from tests.storage.steps import WIDGETS, create, in_time, set_spec


async def test_those_who_ask_in_one_turn_share_a_question_beside_the_first(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    origin.check_door.shut()

    first = asyncio.ensure_future(cacher.get("default/a"))
    await origin.check_door.wait_for_somebody()
    others = [asyncio.ensure_future(cacher.get("default/a")) for _ in range(10)]
    await some_turns()
    asked = origin.requests["newest"]
    origin.check_door.open()
    await in_time(asyncio.gather(first, *others))

    assert asked == 2
    assert origin.requests["newest"] == 2
    assert reads(cacher)["shared_checks"] == 9


async def _readers_one_by_one(cacher: Cacher, count: int) -> Sequence["asyncio.Future[StoredObject]"]:
    """Readers that each have asked, or wait to ask, before the next one comes."""
    readers = []
    for _ in range(count):
        readers.append(asyncio.ensure_future(cacher.get("default/a")))
        await some_turns()
    return readers


async def test_those_who_ask_while_two_questions_are_under_way_share_the_next(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    origin.check_door.shut()

    first_two = await _readers_one_by_one(cacher, 2)
    others = await _readers_one_by_one(cacher, 10)
    asked = origin.requests["newest"]
    origin.check_door.open()
    await in_time(asyncio.gather(*first_two, *others))

    assert asked == 2
    assert origin.requests["newest"] == 3
    assert reads(cacher)["shared_checks"] == 9


@pytest.mark.parametrize(("sharing", "under_way"), [(3, 3), (4, 2), (10, 2)])
async def test_another_question_begins_beside_one_of_few_readers_alone(
    cacher: Cacher, origin: Troubled, sharing: int, under_way: int
) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    origin.check_door.shut()
    (first,) = await _readers_one_by_one(cacher, 1)
    sharers = [asyncio.ensure_future(cacher.get("default/a")) for _ in range(sharing)]
    await some_turns()

    first.cancel()  # its question ends with it
    late = await _readers_one_by_one(cacher, 2)
    asked = origin.requests["newest"]
    origin.check_door.open()
    await in_time(asyncio.gather(*sharers, *late))

    assert asked == under_way
    assert origin.requests["newest"] == under_way + 1


async def test_an_answer_from_before_a_write_is_not_given_to_who_comes_after_it(
    cacher: Cacher, origin: Troubled
) -> None:
    created = await create(cacher, "a", color="red")
    await cacher.wait_until_ready()
    origin.hold_events()
    origin.check_door.shut()

    early = asyncio.ensure_future(cacher.get("default/a"))  # its question has been answered, the answer is on its way
    await origin.check_door.wait_for_somebody()
    updated = await set_spec(cacher, created, color="blue")
    late = asyncio.ensure_future(cacher.get("default/a"))
    origin.check_door.open()
    before = await in_time(early)
    await some_turns()
    was_waiting = not late.done()
    origin.release_events()

    assert before.json == created.json
    assert was_waiting
    assert (await in_time(late)).json == updated.json


async def test_a_reader_that_gives_up_does_not_take_the_others_with_it(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    origin.check_door.shut()
    readers = [asyncio.ensure_future(cacher.get("default/a")) for _ in range(3)]
    await origin.check_door.wait_for_somebody()
    await some_turns()

    readers[0].cancel()
    readers[1].cancel()
    await some_turns()
    origin.check_door.open()

    assert (await in_time(readers[2])).key == "default/a"
    assert [reader.cancelled() for reader in readers] == [True, True, False]


async def test_a_failing_question_fails_all_who_asked_it(cacher: Cacher, origin: Troubled) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    origin.check_door.shut()
    first_two = await _readers_one_by_one(cacher, 2)
    others = await _readers_one_by_one(cacher, 2)

    origin.failure = Unavailable("no route to the store")
    origin.check_door.open()
    outcomes = await in_time(asyncio.gather(*first_two, *others, return_exceptions=True))
    origin.failure = None

    expected = [StoredObject, StoredObject, Unavailable, Unavailable]
    assert [type(outcome) for outcome in outcomes] == expected
    assert (await cacher.get("default/a")).key == "default/a"


async def test_readers_get_the_exception_of_a_faulty_store(origin: Troubled) -> None:
    cacher = Cacher(origin, WIDGETS, WindowMemory(SystemClock()))
    await create(cacher, "a")
    await cacher.wait_until_ready()
    origin.check_door.shut()
    first_two = await _readers_one_by_one(cacher, 2)
    others = await _readers_one_by_one(cacher, 2)

    origin.failure = ValueError("a fault of the store")
    origin.check_door.open()
    outcomes = await in_time(asyncio.gather(*first_two, *others, return_exceptions=True))
    origin.failure = None

    assert [type(outcome) for outcome in outcomes] == [StoredObject, StoredObject, ValueError, ValueError]
    assert (await cacher.get("default/a")).key == "default/a"
    with pytest.raises(BaseExceptionGroup, match="background tasks failed"):
        await cacher.close()


async def test_a_cancelled_request_fails_its_readers_and_those_behind_it_and_begins_no_other(origin: Troubled) -> None:
    tasks = Tasks()
    check = RevisionCheck(origin, tasks)
    origin.check_door.shut()
    readers = []
    for _ in range(3):
        readers.append(asyncio.ensure_future(check.newest()))
        await some_turns()

    await tasks.close()
    origin.check_door.open()
    outcomes = await in_time(asyncio.gather(*readers, return_exceptions=True))
    await some_turns()

    assert [type(outcome) for outcome in outcomes] == [tuple, Closed, Closed]
    assert origin.requests["newest"] == 2


async def test_a_reader_that_joins_a_request_waits_for_the_store_in_its_trace(
    cacher: Cacher, origin: Troubled, manual_clock: ManualClock
) -> None:
    await create(cacher, "a")
    await cacher.wait_until_ready()
    origin.check_door.shut()

    async def traced() -> Mapping[TraceLayer, float]:
        facts = TraceFacts(clock=manual_clock, offset=0, on_end=lambda _: None)
        with tracing.within(TraceSpan(facts, "request")) as span:
            await cacher.get("default/a")
        return span.layers

    first = asyncio.ensure_future(cacher.get("default/a"))
    await origin.check_door.wait_for_somebody()
    joining = asyncio.ensure_future(traced())
    await some_turns()
    manual_clock.advance(0.25)
    origin.check_door.open()
    await in_time(first)

    assert await in_time(joining) == {TraceLayer.STORE: 0.25}


async def test_readers_of_many_objects_are_compared_in_one_request(cacher: Cacher, origin: Troubled) -> None:
    names = [f"n{number}" for number in range(2 * MOST_COMPARED)]
    for name in names:
        await create(cacher, name)
    await cacher.get_list("", ListOptions())
    origin.check_door.shut()

    first = asyncio.ensure_future(cacher.get("default/n0"))
    await origin.check_door.wait_for_somebody()
    others = [asyncio.ensure_future(cacher.get(f"default/{name}")) for name in names]
    await some_turns()
    origin.check_door.open()
    found = await in_time(asyncio.gather(first, *others))

    assert [one.key for one in found] == [f"default/{name}" for name in ["n0", *names]]
    assert origin.requests["newest"] == 3  # the list's, the first reader's, and that of all others
