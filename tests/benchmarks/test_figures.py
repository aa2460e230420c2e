"""Figures: shares, targets, and the table."""

import pytest

from benchmarks.figures import (
    MILLISECONDS,
    PER_SECOND,
    Figure,
    Reference,
    Target,
    at_least,
    at_most,
    share_of_at_least,
    share_of_at_most,
    table,
)


@pytest.mark.parametrize(
    ("target", "is_missed"),
    [
        (at_least(900), False),
        (at_least(901), True),
        (at_most(900), False),
        (at_most(899), True),
        (share_of_at_least(90), False),
        (share_of_at_least(91), True),
        (share_of_at_most(90), False),
        (share_of_at_most(89), True),
        (None, False),
    ],
)
def test_a_target_is_missed_on_one_side_of_its_bound(target: Target | None, is_missed: bool) -> None:
    figure = Figure("creates", 900, PER_SECOND, Reference("raw", 1_000), target)

    assert figure.share == 90
    assert figure.is_missed is is_missed


def test_the_table_is_aligned_and_leaves_out_what_is_not_known() -> None:
    figures = [
        Figure("creates", 1_234.4, PER_SECOND, Reference("raw", 2_000), share_of_at_least(80)),
        Figure("a first list", 3.14159, MILLISECONDS, target=at_most(10)),
        Figure("a get", 7, PER_SECOND),
    ]

    assert table(figures).splitlines() == [
        "figure          value    reference  share       target  met?",
        "creates       1,234/s  raw 2,000/s   62 %      >= 80 %  no",
        "a first list  3.14 ms                      <= 10.00 ms  yes",
        "a get             7/s",
    ]
