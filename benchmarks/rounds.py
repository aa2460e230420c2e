"""Rounds: measures in short rounds, in which compared subjects alternate, so that noise affects both.

Must hold: every round ends, by its number of operations or its time. Every other round has the opposite order.
"""

import asyncio
import itertools
import statistics
import time
from collections.abc import Awaitable, Callable, Iterable

Operation = Callable[[int], Awaitable[object]]
"""One request, by its number."""

Measure = Callable[[], Awaitable[float]]
"""One round; returns its result."""

ROUNDS = 12
ROUND_SECONDS = 0.4
"""Long enough for periodic work such as a checkpoint, short enough for many rounds."""


async def rate(operation: Operation, numbers: Iterable[int], *, at_once: int, seconds: float = ROUND_SECONDS) -> float:
    """Operations per second with so many at once, each with its own number. It ends with the numbers or the time."""
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
    """The median of each measure over alternating rounds, after one round of warm-up."""
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
