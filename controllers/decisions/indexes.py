"""Indexes: lists of numbers with ranges, such as 1,3-5, in the status of indexed jobs.

Pure.
"""

from collections.abc import Iterable


def parse(given: str) -> set[int]:
    """The numbers of a list such as 1,3-5."""
    found: set[int] = set()
    for part in filter(None, given.split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def text(numbers: Iterable[int]) -> str:
    """The list of these numbers."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(f"{first}-{last}" if last > first + 1 else _apart(first, last) for first, last in runs)


def _apart(first: int, last: int) -> str:
    """One number, or two consecutive ones."""
    return str(first) if first == last else f"{first},{last}"
