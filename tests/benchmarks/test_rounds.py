"""Rounds: every number is used once, what is compared takes turns, and the first round does not count."""

import asyncio
import itertools

from benchmarks.rounds import Measure, median, medians, rate


async def test_a_rate_is_of_all_operations_each_with_a_number_of_its_own() -> None:
    used: list[int] = []
    running, most = 0, 0

    async def operation(number: int) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        used.append(number)

    found = await rate(operation, range(100), at_once=8)

    assert found > 0
    assert sorted(used) == list(range(100))
    assert most == 8


async def test_a_round_ends_with_its_time_however_many_operations_are_left() -> None:
    async def operation(_number: int) -> None:
        await asyncio.sleep(0)

    found = await rate(operation, itertools.count(), at_once=2, seconds=0)

    assert found > 0


async def test_measures_take_turns_and_swap_places() -> None:
    order: list[str] = []

    def measure(name: str, *results: float) -> Measure:
        left = iter(results)

        async def run() -> float:
            order.append(name)
            return next(left)

        return run

    found = await medians(measure("a", 1000, 1, 3, 2), measure("b", 1000, 10, 20, 30), rounds=3)

    assert order == ["b", "a", "a", "b", "b", "a", "a", "b"]
    assert found == [2, 20]


async def test_the_median_of_one_measure_leaves_out_the_warming_up() -> None:
    results = iter([1000.0, 5.0, 4.0, 6.0])

    async def measure() -> float:
        return next(results)

    assert await median(measure, rounds=3) == 5.0
