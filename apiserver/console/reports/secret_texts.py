"""secret_texts: takes the values of Secrets out of texts.

Pure. Values of less than six letters are not looked for: they are parts of usual words. The values are sorted, so that
a binary search finds the longest one that begins at a place of a text. Of a long value, the first 1,024 letters are
searched for. Its length and its hash tell where its copy ends.

    values    abcdef, abcdefgh, abcx    at "abcdefgz...", the neighbour in the order is abcdefgh
              6 letters and 8           7 letters are common: of the lengths 6 and 8, the longest that fits is 6

Must hold: the time grows with the length of the text, and with the logarithm of the number of values, whatever letters
they share. The work is paid for before it is done. No long value is kept.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from heapq import merge
from itertools import islice
from typing import Any

from aio_apiserver.apiserver.console.timeline.hidden_values import HIDDEN
from aio_apiserver.base.budget import Budget
from aio_apiserver.base.short_texts import CUT

SHORTEST = 6
LONGEST = 1024
"""The letters that are searched for."""
_MOST_ENDS = 16
"""The long values with the same beginning that are told apart."""
_LETTERS_A_STEP = 8
_STEPS_A_PLACE = 5
_HASHED_A_STEP = 1024
_SORTED_AT_ONCE = 4096
_VALUE_BYTES = 200
"""The memory of a value without its letters."""


class SecretValues:
    """Collects the values to hide."""

    def __init__(self) -> None:
        self.short: set[str] = set()
        """The values, or their first 1,024 letters."""
        self.ends: dict[str, set[tuple[int, int]]] = {}
        """By the first 1,024 letters of a value: the lengths and hashes of the values that begin so."""

    def add(self, value: str, budget: Budget) -> None:
        """Collect a value. Raises BudgetExceeded."""
        if len(value) < SHORTEST:
            return
        beginning = value[:LONGEST]
        if beginning not in self.short:
            budget.make(len(beginning) + _VALUE_BYTES)
            self.short.add(beginning)
        if len(value) >= LONGEST:
            self.ends.setdefault(beginning, set()).add((len(value), hash(value)))


class SecretTexts:
    """The values to hide, ready for a search. It takes a second for 200,000 values."""

    def __init__(self, values: SecretValues) -> None:
        self._sorted = _sorted(values.short)
        self._lengths = _lengths(self._sorted)
        self._beginnings = frozenset(value[:SHORTEST] for value in self._sorted)
        self._ends = {beginning: sorted(ends, reverse=True) for beginning, ends in values.ends.items()}

    def without(self, value: Any, budget: Budget) -> Any:
        """The JSON value with `(hidden)` in the place of each secret in its texts. Raises BudgetExceeded."""
        if isinstance(value, str):
            return self._of_text(value, budget)
        if isinstance(value, dict):
            budget.spend(len(value))
            return {self._of_text(name, budget): self.without(one, budget) for name, one in value.items()}
        if isinstance(value, list | tuple):
            budget.spend(len(value))
            return [self.without(one, budget) for one in value]
        return value

    def _of_text(self, text: str, budget: Budget) -> str:
        budget.spend(len(text) // _LETTERS_A_STEP)
        whole, beginnings = text.removesuffix(CUT), self._beginnings
        parts: list[str] = []
        shown = 0
        for at in range(len(whole) - SHORTEST + 1):
            if whole[at : at + SHORTEST] in beginnings and at >= shown:
                length = self._length(whole, at, budget)
                if length:
                    parts += (whole[shown:at], HIDDEN)
                    shown = at + length
        return "".join((*parts, text[shown:]))

    def _length(self, text: str, at: int, budget: Budget) -> int:
        """The length of the value at a place, or 0. A value that the end of the text has cut counts, too."""
        budget.spend(_STEPS_A_PLACE)
        probe = text[at : at + LONGEST]
        place = bisect_right(self._sorted, probe) - 1
        fitting = self._lengths[place] & ((2 << _common(self._sorted[place], probe)) - 1) if place >= 0 else 0
        length = fitting.bit_length() - 1
        if length == LONGEST:
            return self._end(text, at, budget)
        if len(probe) < LONGEST:
            following = bisect_left(self._sorted, probe)
            if following < len(self._sorted) and self._sorted[following].startswith(probe):
                return len(probe)
        return max(length, 0)

    def _end(self, text: str, at: int, budget: Budget) -> int:
        """The length of a long value. Where the text goes on in another way, or ends before the value, nothing of it is
        shown.
        """
        ends = self._ends[text[at : at + LONGEST]]
        for length, digest in ends[:_MOST_ENDS]:
            budget.spend(length // _HASHED_A_STEP)
            if at + length <= len(text) and hash(text[at : at + length]) == digest:
                return length
        return len(text) - at


def _sorted(values: Iterable[str]) -> list[str]:
    """The values in order. To sort all in one go would hold the interpreter, and with it the event loop."""
    left = iter(values)
    parts = iter(lambda: sorted(islice(left, _SORTED_AT_ONCE)), [])
    return list(merge(*parts))


def _lengths(values: list[str]) -> list[int]:
    """For each of the sorted values, the lengths of all values that it begins with, as the bits of a number."""
    lengths: list[int] = []
    outer: list[tuple[str, int]] = []
    for value in values:
        while outer and not value.startswith(outer[-1][0]):
            outer.pop()
        bits = (outer[-1][1] if outer else 0) | 1 << len(value)
        lengths.append(bits)
        outer.append((value, bits))
    return lengths


def _common(one: str, other: str) -> int:
    """The length of the common beginning of two short texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one.startswith(other[:middle]):
            low = middle
        else:
            high = middle - 1
    return low
