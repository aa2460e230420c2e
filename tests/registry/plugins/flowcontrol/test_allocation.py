import pytest
from hypothesis import given
from hypothesis import strategies as st

from aio_apiserver.registry.plugins.flowcontrol.allocation import Wish, allocate


@st.composite
def wishes(draw: st.DrawFn) -> Wish:
    lower, target, more = (draw(st.floats(0, 200)) for _ in range(3))
    return Wish(lower, lower + more, lower + target)


def test_seats_are_divided_in_proportion_to_what_is_wanted() -> None:
    found = allocate(100, [Wish(0, 100, 10), Wish(0, 100, 30)])

    assert found is not None
    assert found.seats == pytest.approx([25, 75])
    assert found.proportion == pytest.approx(2.5)


def test_bounds_count_more_than_wishes() -> None:
    found = allocate(100, [Wish(5, 60, 10), Wish(40, 50, 90), Wish(10, 60, 15)])

    assert found is not None
    assert found.seats == pytest.approx([20, 50, 30])


@given(st.lists(wishes(), min_size=1, max_size=8), st.floats(0, 1))
def test_all_is_given_away_within_the_bounds(given_wishes: list[Wish], part: float) -> None:
    lower, upper = sum(one.lower for one in given_wishes), sum(one.upper for one in given_wishes)
    total = min(max(lower + part * (upper - lower), lower), upper)

    found = allocate(total, given_wishes)

    assert found is not None
    assert sum(found.seats) == pytest.approx(total, abs=1e-3)
    for seats, wish in zip(found.seats, given_wishes, strict=True):
        assert wish.lower <= seats <= wish.upper


def test_what_the_bounds_do_not_allow_is_not_divided() -> None:
    assert allocate(100, [Wish(0, 10, 10)]) is None
    assert allocate(5, [Wish(10, 20, 10)]) is None
