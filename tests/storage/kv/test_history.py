"""History: `release` frees compacted data in parts, and nothing else."""

import pytest

from aio_apiserver.storage.errors import Compacted
from aio_apiserver.storage.kv.history import History


def release(history: History) -> None:
    while history.release(3):
        pass


@pytest.fixture
def history() -> History:
    """`a` written at 2 to 11, `b` at 12, `a` deleted at 13, `c` created at 14 and deleted at 15."""
    history = History()
    for number in range(10):
        history.put(b"a", b"%d" % number, lease=0)
    history.put(b"b", b"value", lease=0)
    history.delete([b"a"])
    history.put(b"c", b"value", lease=0)
    history.delete([b"c"])
    return history


def held(history: History) -> tuple[int, int, int]:
    """Present keys, superseded records, revisions that can be replayed."""
    sizes = history.statistics()
    return sizes["keys"], sizes["past_records"], sizes["revisions_with_events"]


def test_everything_is_held_until_a_compaction(history: History) -> None:
    assert held(history) == (1, 13, 14)


def test_a_compaction_in_the_middle_lets_go_of_what_lies_below(history: History) -> None:
    history.compact(6)

    release(history)

    assert held(history) == (1, 9, 10)
    kept = [history.at(b"a", revision) for revision in range(6, 13)]
    assert [record and record.value for record in kept] == [b"4", b"5", b"6", b"7", b"8", b"9", b"9"]


def test_a_compaction_at_the_end_leaves_what_is_current(history: History) -> None:
    history.compact(history.revision)

    release(history)

    assert held(history) == (1, 0, 1)


def test_a_key_whose_deletion_is_below_the_compaction_is_forgotten(history: History) -> None:
    history.compact(14)

    release(history)

    assert held(history) == (1, 2, 2)
    assert history.at(b"a", 14) is None
    assert history.at(b"c", 14) is not None


def test_the_events_of_the_compact_revision_let_go_of_their_previous_records(history: History) -> None:
    before = history.events(7)[0]
    history.compact(7)

    release(history)

    (event,) = history.events(7)
    assert before.previous is not None
    assert (event.record, event.previous) == (before.record, None)
    assert history.events(8)[0].previous == event.record


def test_what_is_not_released_yet_cannot_be_read(history: History) -> None:
    history.compact(10)
    is_unfinished = history.release(2)

    with pytest.raises(Compacted):
        history.check_kept(9)

    assert is_unfinished
    assert history.at(b"a", 10) is not None


def test_a_compaction_overtakes_one_that_is_not_finished(history: History) -> None:
    history.compact(5)
    history.release(1)
    history.compact(13)

    release(history)

    assert held(history) == (1, 2, 3)


def test_repeated_compactions_keep_a_busy_key_small(history: History) -> None:
    for number in range(100):
        history.put(b"b", b"%d" % number, lease=0)
        history.compact(history.revision)
        release(history)

    assert held(history) == (1, 0, 1)
