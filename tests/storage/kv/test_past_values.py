"""Past values: their bytes by revision, and the revision to compact to when they are too many."""

from aio_apiserver.storage.kv.interface import Event, EventType
from aio_apiserver.storage.kv.past_values import PastValues
from aio_apiserver.storage.record import Record

KILO = 1_000


def update(revision: int, size: int = KILO) -> Event:
    """An update that supersedes a value of this size."""
    before = Record(b"a", bytes(size), 2, revision - 1, revision - 2)
    return Event(EventType.PUT, Record(b"a", b"", 2, revision, revision - 1), before)


def past_of(limit: int, revisions: range) -> PastValues:
    past = PastValues(limit)
    for revision in revisions:
        past.add([update(revision)])
    return past


def test_a_creation_supersedes_nothing() -> None:
    past = PastValues(100)

    past.add([Event(EventType.PUT, Record(b"a", bytes(KILO), 2, 2, 1), None)])

    assert past.bytes == 0


def test_below_the_limit_there_is_no_excess() -> None:
    assert past_of(100 * KILO, range(3, 50)).excess() == 0


def test_above_the_limit_the_older_half_is_excess() -> None:
    past = past_of(100 * KILO, range(3, 103))

    target = past.excess()
    past.compact(target)

    assert 40 < target < 80
    assert 0 < past.bytes <= 50 * KILO
    assert past.excess() == 0


def test_a_compaction_by_others_counts() -> None:
    past = past_of(100 * KILO, range(3, 80))

    past.compact(79)

    assert past.bytes == 0


def test_many_small_revisions_take_few_entries() -> None:
    past = past_of(100 * KILO, range(3, 80))
    past.compact(79)

    for revision in range(80, 10_000):
        past.add([update(revision, size=1)])
        if target := past.excess():
            past.compact(target)

    assert len(past._entries) <= 70


def test_without_a_limit_there_is_no_excess() -> None:
    assert past_of(0, range(3, 500)).excess() == 0
