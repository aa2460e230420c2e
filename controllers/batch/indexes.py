"""Indexes: numbers with ranges, such as 1,3-5, in the status of indexed jobs.

A job may have two billion indexes. They are kept as runs, so that memory and time depend on the length of the text.

Pure. Must hold: runs are in order, and do not touch each other.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain

Run = tuple[int, int]
"""The first and the last number of a range."""


class Indexes(Set[int]):
    """A set of numbers. A loop over all of them can be long."""

    __slots__ = ("_runs",)

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        self._runs = _joined(runs)

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        place = bisect_right(self._runs, number, key=_first)
        return place > 0 and number <= self._runs[place - 1][1]

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(range(first, last + 1) for first, last in self._runs)

    def __len__(self) -> int:
        return sum(last + 1 - first for first, last in self._runs)

    def __str__(self) -> str:
        return ",".join(f"{first}-{last}" if last > first + 1 else _apart(first, last) for first, last in self._runs)

    def __bool__(self) -> bool:
        return bool(self._runs)

    def with_all(self, other: "Indexes") -> "Indexes":
        """The numbers of both."""
        return Indexes((*self._runs, *other._runs))

    def among(self, other: "Indexes") -> "Indexes":
        """The numbers that both have."""
        found, mine, theirs = list[Run](), iter(self._runs), iter(other._runs)
        one, two = next(mine, None), next(theirs, None)
        while one is not None and two is not None:
            if max(one[0], two[0]) <= min(one[1], two[1]):
                found.append((max(one[0], two[0]), min(one[1], two[1])))
            if one[1] < two[1]:
                one = next(mine, None)
            else:
                two = next(theirs, None)
        return Indexes(found)

    def below(self, limit: int) -> "Indexes":
        """The numbers from 0 to the limit, without it."""
        return self.among(Indexes([(0, limit - 1)] if limit > 0 else ()))

    def others_below(self, limit: int) -> Iterator[int]:
        """The numbers from 0 to the limit that are missing here, in order."""
        at = 0
        for first, last in self.below(limit)._runs:
            yield from range(at, first)
            at = last + 1
        yield from range(at, limit)


def of(numbers: Iterable[int]) -> Indexes:
    """These numbers."""
    return Indexes((number, number) for number in numbers)


def parse(given: str) -> Indexes:
    """The numbers of a list such as 1,3-5."""
    parts = (part.partition("-") for part in given.split(",") if part)
    return Indexes((int(first), int(last or first)) for first, _, last in parts)


def _joined(runs: Iterable[Run]) -> Sequence[Run]:
    found: list[Run] = []
    for first, last in sorted(runs):
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        elif first <= last:
            found.append((first, last))
    return found


def _first(run: Run) -> int:
    return run[0]


def _apart(first: int, last: int) -> str:
    """One number, or two consecutive ones."""
    return str(first) if first == last else f"{first},{last}"
