"""WatchCache: state, window and revision move together, and every change is taken once."""

from collections.abc import Sequence

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.watch_cache import WatchCache
from aio_apiserver.storage.cacher.window_memory import WindowMemory
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.interface import WatchEventType
from aio_apiserver.storage.selection import EVERYTHING
from tests.storage.cacher.objects import Decodings, gone, progress, put, stored
from tests.storage.steps import labelled, with_field


class Told:
    """A listener that remembers."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.revisions: list[int] = []
        self.restarts: list[int] = []
        self.skips_gaps = False

    def changed(self, changes: Sequence[Change], revision: int) -> None:
        self.changes.extend(changes)
        self.revisions.append(revision)

    def restarted(self, changes: Sequence[Change], revision: int) -> None:
        self.changes.extend(changes)
        self.restarts.append(revision)


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def cache(told: Told) -> WatchCache:
    cache = WatchCache(clock := ManualClock(), told, WindowMemory(clock), triggers=["spec.color"])
    cache.replace([stored("default/a", 3)], 5)
    return cache


def test_a_list_is_the_state_at_its_revision(cache: WatchCache, told: Told) -> None:
    assert [item.key for item in cache.candidates("", EVERYTHING)] == ["default/a"]
    assert cache.revision == 5
    assert told.restarts == [5]


def test_a_write_has_its_previous_state(cache: WatchCache, told: Told) -> None:
    before = cache.get("default/a")
    created, updated = stored("default/b", 6), stored("default/a", 7)

    cache.apply([put(created), put(updated)])

    assert [(c.previous, c.current, c.revision) for c in told.changes] == [(None, created, 6), (before, updated, 7)]
    assert (cache.get("default/a"), cache.get("default/b"), cache.revision) == (updated, created, 7)


def test_a_deletion_takes_the_object_out(cache: WatchCache, told: Told) -> None:
    before = stored("default/a", 3)

    cache.apply([gone(before, 6)])

    (change,) = told.changes
    assert (change.current, change.revision) == (None, 6)
    assert cache.get("default/a") is None


def test_what_is_known_already_is_not_taken_again(cache: WatchCache, told: Told) -> None:
    newest = stored("default/a", 6)
    cache.apply([put(newest)])

    cache.apply([put(stored("default/a", 4)), gone(newest, 5), put(stored("default/a", 6))])
    cache.apply([progress(5)])

    assert cache.get("default/a") is newest
    assert (len(told.changes), told.revisions, cache.revision) == (1, [6], 6)


def test_all_changes_of_one_revision_are_taken(cache: WatchCache, told: Told) -> None:
    cache.apply([put(stored("default/b", 6)), put(stored("default/c", 6)), gone(stored("default/a", 3), 6)])

    assert [change.key for change in told.changes] == ["default/b", "default/c", "default/a"]


def test_progress_moves_the_revision_only(cache: WatchCache, told: Told) -> None:
    cache.apply([progress(9)])

    assert (cache.revision, told.changes, told.revisions) == (9, [], [9])
    assert list(cache.window.behind(5)) == []


def test_the_difference_between_two_states_is_made_for_those_who_want_it(cache: WatchCache, told: Told) -> None:
    cache.replace([stored("default/b", 8)], 9)
    told.skips_gaps = True
    again = stored("default/b", 8)

    cache.replace([again, stored("default/c", 11)], 12)

    assert [(change.key, change.revision) for change in told.changes] == [("default/c", 12)]


def test_a_change_costs_no_decoding(told: Told) -> None:
    decodings = Decodings()
    cache = WatchCache(clock := ManualClock(), told, WindowMemory(clock), triggers=["spec.color"])
    first, second = (stored("default/a", revision, reader=decodings.reader) for revision in (1, 2))

    cache.replace([first], 1)
    cache.apply([put(second)])
    cache.apply([gone(second, 3)])

    assert decodings.count == 0


def test_a_selection_by_a_trigger_field_comes_from_its_index(cache: WatchCache) -> None:
    cache.apply([put(stored("default/b", 6, color="red")), put(stored("other/c", 7, color="red"))])
    red = with_field("spec.color", "red")

    assert [item.key for item in cache.candidates("", red)] == ["default/b", "other/c"]
    assert [item.key for item in cache.candidates("other/", red)] == ["other/c"]
    assert [item.key for item in cache.candidates("default/a", red)] == ["default/a"]
    assert cache.unread("", red) == []
    assert cache.unread("", labelled(app="web")) == ()


def test_the_object_of_a_deletion_is_made_once(cache: WatchCache, told: Told) -> None:
    cache.apply([gone(stored("default/a", 3), 6)])
    (change,) = told.changes

    first, second = change.seen_through(EVERYTHING), change.seen_through(with_field("metadata.name", "a"))

    assert first is not None
    assert first is second
    assert (first.type, first.revision) == (WatchEventType.DELETED, 6)
    assert first.object is not None
    assert first.object.decode()["metadata"]["resourceVersion"] == "6"
