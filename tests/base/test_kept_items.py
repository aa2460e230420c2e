"""Kept items: bounded by bytes and by age, the oldest go first."""

from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.base.kept_items import KeptByKey, KeptItems


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


def test_the_item_that_was_put_or_used_longest_ago_makes_room() -> None:
    items: KeptByKey[str, int] = KeptByKey(10)
    for number, key in enumerate("abc", 1):
        items.put(key, number, 3)
    items.get("a")

    items.put("d", 4, 3)

    assert list(items) == [3, 1, 4]
    assert list(reversed(items)) == [4, 1, 3]
    assert items.get("b") is None


def test_an_item_takes_the_place_of_the_one_with_its_key() -> None:
    items: KeptByKey[str, str] = KeptByKey(10)
    items.put("a", "small", 2)

    items.put("a", "larger", 9)
    assert (items.get("a"), items.statistics()) == ("larger", {"items": 1, "bytes": 9})
    items.put("a", "too large", 11)
    assert (items.get("a"), items.statistics()) == (None, {"items": 0, "bytes": 0})


def test_items_with_keys_may_be_bounded_by_their_number_too() -> None:
    items: KeptByKey[int, int] = KeptByKey(100, most=2)
    for number in range(4):
        items.put(number, number, 1)

    assert list(items) == [2, 3]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 50))))
def test_the_bytes_kept_by_key_never_exceed_the_limit(pairs: list[tuple[int, int]]) -> None:
    items: KeptByKey[int, int] = KeptByKey(40)
    for key, size in pairs:
        items.put(key, size, size)

        assert items.statistics()["bytes"] == sum(items) <= 40
