"""TimeBudget: it fills with time, up to a limit, and is taken as a whole."""

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.slow_watch_budget import MAXIMUM, REFILL_PER_SECOND, TimeBudget


def test_there_is_nothing_at_first() -> None:
    assert TimeBudget(ManualClock()).take() == 0


def test_it_fills_as_time_goes_by() -> None:
    clock = ManualClock()
    budget = TimeBudget(clock)

    clock.advance(3)

    assert budget.take() == pytest.approx(3 * REFILL_PER_SECOND)
    assert budget.take() == 0


def test_it_does_not_fill_beyond_its_maximum() -> None:
    clock = ManualClock()
    budget = TimeBudget(clock)

    clock.advance(10_000)

    assert budget.take() == MAXIMUM
    budget.give_back(10 * MAXIMUM)
    assert budget.take() == MAXIMUM


def test_what_was_not_used_can_be_given_back() -> None:
    clock = ManualClock()
    budget = TimeBudget(clock)
    clock.advance(3)
    budget.take()

    budget.give_back(0.2)
    budget.give_back(-5)

    assert budget.take() == pytest.approx(0.2)
