"""Rounds: work is measured in short rounds, and what is to be compared takes turns, so that a noisy moment hits both.

Must hold: every round ends, after its number of operations or after its time; the first of two comes second in every
other round.
"""

import asyncio
import itertools
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable

Operation = Callable[[int], Awaitable[object]]
"""One request, by its number."""

Measure = Callable[[], Awaitable[float]]
"""One round; what it has found."""

ROUNDS = 12
ROUND_SECONDS = 0.4
"""Long enough for what a subject does now and then, such as a checkpoint; short enough to take turns often."""


async def rate(operation: Operation, numbers: Iterable[int], *, at_once: int, seconds: float = ROUND_SECONDS) -> float:
    """Operations a second, so many at once, each with a number of its own, until numbers or time have run out."""
    left, done = iter(numbers), itertools.count()
    begun = time.perf_counter()
    until = begun + seconds

    async def work() -> None:
        for number in left:
            await operation(number)
            next(done)
            if time.perf_counter() > until:
                return

    async with asyncio.TaskGroup() as group:
        for _ in range(at_once):
            group.create_task(work())
    return next(done) / (time.perf_counter() - begun)


async def medians(*measures: Measure, rounds: int = ROUNDS) -> list[float]:
    """The median of each measure, over rounds in which all of them take turns; one before that is for warming up."""
    found: list[list[float]] = [[] for _ in measures]
    in_order = list(zip(measures, found, strict=True))
    for number in range(rounds + 1):
        for measure, results in in_order if number % 2 else reversed(in_order):
            results.append(await measure())
    return [statistics.median(results[1:]) for results in found]


async def median(measure: Measure, *, rounds: int = ROUNDS) -> float:
    """The median of one measure."""
    (found,) = await medians(measure, rounds=rounds)
    return found
