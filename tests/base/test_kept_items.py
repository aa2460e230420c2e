"""Kept items: bounded by bytes and by age, the oldest go first."""

from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.base.kept_items import KeptItems


def test_the_oldest_items_make_room_for_a_new_one() -> None:
    items: KeptItems[str] = KeptItems(10)
    for name in "abc":
        items.append(name, 4)

    assert list(items) == ["b", "c"]
    assert list(reversed(items)) == ["c", "b"]


def test_an_item_larger_than_the_limit_is_not_kept_and_drops_nothing() -> None:
    items: KeptItems[str] = KeptItems(10)
    items.append("small", 4)

    items.append("large", 11)

    assert list(items) == ["small"]


def test_items_older_than_a_time_are_dropped() -> None:
    items: KeptItems[str] = KeptItems(10)
    items.append("old", 1, at=1.0)
    items.append("new", 1, at=2.0)

    items.drop_before(2.0)

    assert list(items) == ["new"]
    assert items.statistics() == {"items": 1, "bytes": 1}


def test_clear_frees_all_bytes() -> None:
    items: KeptItems[str] = KeptItems(10)
    items.append("a", 10)

    items.clear()

    assert items.statistics() == {"items": 0, "bytes": 0}


@given(st.lists(st.integers(0, 50)))
def test_the_bytes_kept_never_exceed_the_limit(sizes: list[int]) -> None:
    items: KeptItems[int] = KeptItems(40)
    for size in sizes:
        items.append(size, size)

        assert items.statistics()["bytes"] == sum(items) <= 40
