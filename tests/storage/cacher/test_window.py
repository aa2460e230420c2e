"""Window: the revisions from which it can serve watches, and its size."""

import asyncio

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.window import FRESH_SECONDS, LARGEST, SMALLEST, Window
from aio_apiserver.storage.cacher.window_memory import WindowMemory
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.errors import RevisionExpired
from tests.storage.cacher.cachers import some_turns
from tests.storage.cacher.objects import change, stored


def window_of(*revisions: int, floor: int = 0, seconds_apart: float = 0.0) -> Window:
    window = Window(WindowMemory(ManualClock()))
    window.restart(floor)
    for number, revision in enumerate(revisions):
        window.append(change(revision, at=number * seconds_apart))
    return window


def revisions_behind(window: Window, revision: int) -> list[int]:
    return [change.revision for change in window.behind(revision)]


def size(window: Window) -> dict[str, int]:
    return {name: window.statistics()[name] for name in ("length", "capacity", "floor")}


def test_changes_behind_a_revision_come_in_order() -> None:
    window = window_of(8, 9, 9, 12, floor=7)

    assert revisions_behind(window, 7) == [8, 9, 9, 12]
    assert revisions_behind(window, 8) == [9, 9, 12]
    assert revisions_behind(window, 9) == [12]
    assert revisions_behind(window, 10) == [12]
    assert revisions_behind(window, 12) == []
    assert revisions_behind(window, 100) == []


def test_what_lies_before_the_list_has_expired() -> None:
    window = window_of(8, floor=7)

    with pytest.raises(RevisionExpired, match=r"^too old resource version: 6 \(7\)$"):
        window.behind(6)


def test_an_empty_window_serves_from_its_floor_on() -> None:
    window = window_of(floor=7)

    assert revisions_behind(window, 7) == []
    with pytest.raises(RevisionExpired):
        window.behind(6)


def test_a_restart_forgets_everything() -> None:
    window = window_of(8, 9, floor=7)

    window.restart(20)

    assert revisions_behind(window, 20) == []
    with pytest.raises(RevisionExpired, match=r"^too old resource version: 9 \(20\)$"):
        window.behind(9)


def test_a_window_full_of_fresh_changes_grows() -> None:
    window = window_of(*range(1, SMALLEST + 2), seconds_apart=0.1)

    assert size(window) == {"length": SMALLEST + 1, "capacity": 2 * SMALLEST, "floor": 0}
    assert window.statistics()["increases"] == 1


def test_a_window_of_old_changes_lets_go_of_the_oldest() -> None:
    window = window_of(*range(1, SMALLEST + 3), seconds_apart=FRESH_SECONDS)

    assert size(window) == {"length": SMALLEST, "capacity": SMALLEST, "floor": 2}
    assert revisions_behind(window, 2)[0] == 3
    with pytest.raises(RevisionExpired, match=r"^too old resource version: 1 \(2\)$"):
        window.behind(1)


def test_of_changes_of_one_revision_none_can_be_missed() -> None:
    window = Window(WindowMemory(ManualClock()))
    window.restart(1)
    window.append(change(2, at=0.0))
    window.append(change(2, at=0.0))
    for revision in range(3, SMALLEST + 2):
        window.append(change(revision, at=1000.0 + revision))

    with pytest.raises(RevisionExpired):
        window.behind(1)
    assert revisions_behind(window, 2) == list(range(3, SMALLEST + 2))


def test_a_window_whose_newest_quarter_is_old_shrinks() -> None:
    window = window_of(*range(1, 2 * SMALLEST + 1), seconds_apart=0.01)

    window.append(change(1000, at=1000.0))

    assert window.statistics()["capacity"] == SMALLEST
    assert window.statistics()["length"] == SMALLEST
    assert revisions_behind(window, 2 * SMALLEST) == [1000]


def test_a_window_keeps_its_size_while_its_newest_quarter_is_fresh() -> None:
    window = window_of(*range(1, 2 * SMALLEST + 1), seconds_apart=0.5)

    window.append(change(1000, at=SMALLEST + FRESH_SECONDS / 2))

    assert size(window) == {"length": 2 * SMALLEST, "capacity": 2 * SMALLEST, "floor": 1}


def test_a_window_does_not_grow_beyond_its_largest_size() -> None:
    one = change(1)
    window = Window(WindowMemory(ManualClock()))

    for _ in range(LARGEST + 10):
        window.append(one)

    assert window.statistics()["length"] == window.statistics()["capacity"] == LARGEST


def large_change(revision: int, size: int, *, at: float = 0.0) -> Change:
    """A write of a key whose object before it has so many bytes."""
    return change(revision, at=at, previous=stored("default/a", revision - 1, text="x" * size))


def test_all_windows_together_stay_below_the_limit_and_the_largest_makes_room() -> None:
    memory = WindowMemory(ManualClock(), limit=1_000_000)
    large, small = Window(memory), Window(memory)
    small.append(large_change(2, 10_000))

    for revision in range(3, 1_000):
        large.append(large_change(revision, 10_000))
        assert memory.statistics()["bytes"] <= 1_000_000

    assert memory.statistics()["bytes"] == large.held_bytes + small.held_bytes
    assert len(small) == 1
    assert revisions_behind(large, large.statistics()["floor"])[-1] == 999
    assert len(large) > 50


def test_a_deletion_counts_the_copy_of_its_object() -> None:
    put = large_change(3, 10_000)
    deletion = Change("default/a", put.previous, current=None, revision=3, at=0.0)

    assert deletion.held_bytes > put.held_bytes + 10_000


async def test_a_timer_lets_go_of_what_is_not_fresh_though_nothing_is_written() -> None:
    clock = ManualClock()
    memory = WindowMemory(clock)
    window = Window(memory)
    for revision in range(2, 22):
        window.append(large_change(revision, 100_000))
    memory.start()
    await asyncio.sleep(0)

    for _ in range(5):
        clock.advance(FRESH_SECONDS / 5)
        await some_turns()

    assert window.held_bytes < 1 << 20
    assert len(window) > 1
    assert memory.statistics()["bytes"] == window.held_bytes
    await memory.close()


async def test_the_timer_leaves_a_few_small_changes_of_any_age() -> None:
    clock = ManualClock()
    memory = WindowMemory(clock)
    window = Window(memory)
    for revision in range(2, SMALLEST + 50):
        window.append(change(revision))
    memory.start()
    await asyncio.sleep(0)

    clock.advance(10 * FRESH_SECONDS)
    await some_turns()

    assert len(window) == SMALLEST
    await memory.close()


def test_what_a_window_has_of_older_history_counts_and_is_given_back() -> None:
    memory = WindowMemory(ManualClock())
    window = Window(memory)
    window.restart(20)

    window.extend_back([large_change(revision, 10_000) for revision in range(11, 21)], 10)
    held = memory.statistics()["bytes"]
    window.close()

    assert held > 100_000
    assert memory.statistics()["bytes"] == 0
