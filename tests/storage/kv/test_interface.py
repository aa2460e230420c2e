"""The pure parts of the kv contract: ends of prefixes, events and batches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.storage.kv.interface import Event, EventBatch, EventType, prefix_end
from aio_apiserver.storage.record import Record

CREATED = Record(b"a", b"one", 5, 5, 1)
CHANGED = Record(b"a", b"two", 5, 7, 2)
DELETED = Record(b"a", b"", 0, 8, 0)


@pytest.mark.parametrize(
    ("prefix", "end"),
    [
        (b"a", b"b"),
        (b"/registry/pods/", b"/registry/pods0"),
        (b"a\xff", b"b"),
        (b"a\xff\xff", b"b"),
        (b"a\xfe", b"a\xff"),
        (b"\x00", b"\x01"),
        (b"a\x00", b"a\x01"),
        (b"\xff\x01", b"\xff\x02"),
    ],
)
def test_the_end_of_a_prefix_is_the_next_key_that_does_not_have_it(prefix: bytes, end: bytes) -> None:
    assert prefix_end(prefix) == end


@pytest.mark.parametrize("prefix", [b"", b"\xff", b"\xff\xff"])
def test_a_prefix_without_an_end_is_refused(prefix: bytes) -> None:
    with pytest.raises(ValueError, match="no key is greater"):
        prefix_end(prefix)


@given(prefix=st.binary(min_size=1, max_size=4).filter(lambda prefix: prefix.strip(b"\xff")), key=st.binary(max_size=6))
def test_the_range_of_a_prefix_holds_exactly_the_keys_that_start_with_it(prefix: bytes, key: bytes) -> None:
    for candidate in (key, prefix + key):
        assert (prefix <= candidate < prefix_end(prefix)) == candidate.startswith(prefix)


@pytest.mark.parametrize(
    ("event", "is_create"),
    [
        (Event(EventType.PUT, CREATED), True),
        (Event(EventType.PUT, CHANGED, CREATED), False),
        (Event(EventType.PUT, CHANGED), False),
        (Event(EventType.DELETE, DELETED, CHANGED), False),
    ],
)
def test_an_event_is_a_creation_by_its_revisions(event: Event, is_create: bool) -> None:
    assert event.is_create is is_create


def test_a_batch_without_events_is_progress() -> None:
    assert EventBatch((), 7).is_progress
    assert not EventBatch((Event(EventType.PUT, CREATED),), 5).is_progress
