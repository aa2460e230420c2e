"""Pattern sizes: the number of elements of a pattern with its repetitions written out, and of those it may leave out.

RE2's compiler takes a time that grows with the square of the second number: `a{0,50}` may leave out fifty elements.
A search takes a time that grows with the first one. Pure. The reading is rough: a class or an escape is one element.
Must hold: reading takes a time that grows with the length alone.
"""

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"\\Q.*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\.|\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*+\]?|\{(\d{1,4})(?:(,)(\d{0,4}))?\}|.",
    re.DOTALL,
)
_MOST = 1 << 40
"""A larger number stays this one."""


class PatternSize(NamedTuple):
    """The size of a pattern, or of a part of it."""

    elements: int = 0
    optional: int = 0

    def followed_by(self, other: "PatternSize") -> "PatternSize":
        return PatternSize(min(self.elements + other.elements, _MOST), min(self.optional + other.optional, _MOST))

    def repeated(self, least: int, most: int) -> "PatternSize":
        """The part so often. Each repetition above the least one may be left out."""
        count = max(most, 1)
        optional = self.optional * count + max(most - least, 0)
        return PatternSize(min(self.elements * count, _MOST), min(optional, _MOST))


_ELEMENT = PatternSize(elements=1)


def measured(pattern: str) -> PatternSize:
    """The size of a pattern."""
    open_groups: list[PatternSize] = []
    before, last = PatternSize(), PatternSize()
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if text == "(":
            open_groups.append(before.followed_by(last))
            before, last = PatternSize(), PatternSize()
        elif text == ")" and open_groups:
            before, last = open_groups.pop(), before.followed_by(last)
        elif token[1] is not None:
            least = int(token[1])
            last = last.repeated(least, int(token[3]) if token[3] else least + bool(token[2]))
        elif text in ("?", "*", "+"):
            last = last.repeated(text == "+", 1)
        else:
            before, last = before.followed_by(last), _ELEMENT
    while open_groups:
        before = open_groups.pop().followed_by(before)
    return before.followed_by(last)
