"""Budgets: charges before the work, and the road from the event loop to the worker thread."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from aio_apiserver.base import budget
from aio_apiserver.base.budget import Budget, BudgetExceeded, BudgetLimits

LIMITS = BudgetLimits(steps=20_000, bytes_made=1024 * 1024)


def test_a_budget_refuses_the_step_that_exceeds_it() -> None:
    account = Budget(BudgetLimits(steps=2, bytes_made=0))
    account.spend(2)

    with pytest.raises(BudgetExceeded, match="more than 2 steps"):
        account.spend()


def test_a_budget_refuses_bytes_before_they_are_made() -> None:
    account = Budget(BudgetLimits(steps=0, bytes_made=10))
    account.make(10)

    with pytest.raises(BudgetExceeded, match="more than 10 bytes"):
        account.make(1)


def test_a_budget_reports_the_steps_spent() -> None:
    account = Budget(LIMITS)
    account.spend(7)

    assert account.steps_spent == 7


def test_released_bytes_may_be_made_again() -> None:
    account = Budget(BudgetLimits(steps=0, bytes_made=10))
    account.make(10)
    account.release(4)

    account.make(4)

    assert account.bytes_held == 10
    with pytest.raises(BudgetExceeded):
        account.make(1)


async def test_short_work_runs_on_the_event_loop() -> None:
    def work(account: Budget) -> int:
        account.spend()
        return threading.get_ident()

    assert await budget.within(LIMITS, work, "user") == threading.get_ident()


@pytest.mark.parametrize("charge", [lambda account: account.spend(10_000), lambda account: account.make(512 * 1024)])
async def test_work_beyond_a_slice_runs_in_the_worker_thread(charge: Callable[[Budget], None]) -> None:
    def work(account: Budget) -> int:
        charge(account)
        return threading.get_ident()

    assert await budget.within(LIMITS, work, "user") != threading.get_ident()


async def test_work_beyond_its_limits_fails() -> None:
    with pytest.raises(BudgetExceeded, match="more than 20000 steps"):
        await budget.within(LIMITS, lambda account: account.spend(20_001), "user")


async def test_all_work_in_one_turn_of_the_event_loop_shares_a_slice() -> None:
    def work(account: Budget) -> int:
        account.spend(3_000)
        return threading.get_ident()

    together = await asyncio.gather(*(budget.within(LIMITS, work, "user") for _ in range(2)))
    later = await budget.within(LIMITS, work, "user")

    assert [thread == threading.get_ident() for thread in (*together, later)] == [True, False, True]


async def test_limits_below_a_slice_count() -> None:
    with pytest.raises(BudgetExceeded, match="more than 10 steps"):
        await budget.within(BudgetLimits(steps=10, bytes_made=0), lambda account: account.spend(11), "user")
