"""Differences: the unified diff of two structs' JSON that kube-apiserver adds to some errors. Pure.

Must hold: large structs do not block the event loop. Beyond a limit the diff shows only the beginning.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import orjson

from aio_apiserver.registry.base.validation import field

_CONTEXT = 3
_MOST_COMPARED = 2000
"""Lines of each side that are compared; the cost grows with the square."""
_INDENTATION = re.compile(r"^(?:  )+", re.MULTILINE)
_MARKS = {"equal": " ", "delete": "-", "insert": "+"}


def unified(old: Any, new: Any) -> str:
    """The changed lines with context; empty when the structs are equal."""
    import difflib  # which a start should not wait for

    before, after = _lines(old), _lines(new)
    skipped = 0
    if max(len(before), len(after)) > _MOST_COMPARED:
        skipped = max(0, _common(before, after) - _CONTEXT)
        before, after = (lines[skipped : skipped + _MOST_COMPARED] for lines in (before, after))
    marked: list[str] = []
    for group in difflib.SequenceMatcher(None, before, after).get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        marked.append(f"@@ -{_range(first[1], last[2], skipped)} +{_range(first[3], last[4], skipped)} @@")
        for kind, start, end, new_start, new_end in group:
            if kind != "insert":
                marked += [_MARKS.get(kind, "-") + line for line in before[start:end]]
            if kind in {"insert", "replace"}:
                marked += [f"+{line}" for line in after[new_start:new_end]]
    return "".join(f"{line}\n" for line in marked)


def _range(start: int, end: int, skipped: int) -> str:
    """The line range of a hunk: its first line, counted from 1, and the number of lines."""
    count = end - start
    begin = start + skipped + (1 if count else 0)
    return str(begin) if count == 1 else f"{begin},{count}"


def _lines(value: Any) -> list[str]:
    """Indented JSON, one space a level."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    text = _INDENTATION.sub(lambda found: " " * (len(found[0]) // 2), text)
    return field.escaped(text).split("\n")


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    """The number of equal lines at the beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
