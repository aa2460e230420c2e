"""Differences of two structs, as kube-apiserver adds them to its errors: a unified diff of their JSON. Pure.

Must hold: however large the structs are, telling their differences does not hold up the server. Of what is larger than
people read, only the beginning of the difference is told.
"""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import orjson

from aio_apiserver.registry.base.validation import field

_CONTEXT = 3
_MOST_COMPARED = 2000
"""Lines of each side: comparing takes the square of it."""
_INDENTATION = re.compile(r"^(?:  )+", re.MULTILINE)
_MARKS = {"equal": " ", "delete": "-", "insert": "+"}


def unified(old: Any, new: Any) -> str:
    """The changed lines with some around them; empty when there are none."""
    import difflib  # which a start should not wait for

    before, after = _lines(old), _lines(new)
    skipped = 0
    if max(len(before), len(after)) > _MOST_COMPARED:
        skipped = max(0, _common(before, after) - _CONTEXT)
        before, after = (lines[skipped : skipped + _MOST_COMPARED] for lines in (before, after))
    told: list[str] = []
    for group in difflib.SequenceMatcher(None, before, after).get_grouped_opcodes(_CONTEXT):
        first, last = group[0], group[-1]
        told.append(f"@@ -{_range(first[1], last[2], skipped)} +{_range(first[3], last[4], skipped)} @@")
        for kind, start, end, new_start, new_end in group:
            if kind != "insert":
                told += [_MARKS.get(kind, "-") + line for line in before[start:end]]
            if kind in {"insert", "replace"}:
                told += [f"+{line}" for line in after[new_start:new_end]]
    return "".join(f"{line}\n" for line in told)


def _range(start: int, end: int, skipped: int) -> str:
    """The lines of a hunk: where it begins, counted from 1, and how many there are."""
    count = end - start
    begin = start + skipped + (1 if count else 0)
    return str(begin) if count == 1 else f"{begin},{count}"


def _lines(value: Any) -> list[str]:
    """JSON, each level indented by one space."""
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    text = _INDENTATION.sub(lambda found: " " * (len(found[0]) // 2), text)
    return field.escaped(text).split("\n")


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    """How many lines both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
