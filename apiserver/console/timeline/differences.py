"""differences: the fields in which two states of an object differ, as paths with the values before and after.

Pure. Items of a list are compared by their names, where all have one; by their places in other lists.

    spec.replicas    2 -> 3
    status.conditions[Ready].status    "False" -> "True"
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import orjson

MOST = 60
_LONGEST = 400
CUT = "…"
"""The end of a longer text."""
_LEFT_OUT = frozenset({"metadata.managedFields", "metadata.resourceVersion", "metadata.generation"})
_NAMES = ("name", "type", "uid", "ip", "key")
_NOTHING: Any = object()


class FieldDifference(NamedTuple):
    """One field. `before` or `after` is None where the field did not exist; both are JSON texts."""

    path: str
    before: str | None
    after: str | None


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[FieldDifference]:
    """The fields that differ, at most 60."""
    return list(islice(_of_values(before, after, ""), MOST))


def _of_values(before: Any, after: Any, path: str) -> Iterator[FieldDifference]:
    if before == after or path in _LEFT_OUT:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for name in [*before, *(name for name in after if name not in before)]:
            inner = f"{path}.{name}" if path else name
            yield from _of_values(before.get(name, _NOTHING), after.get(name, _NOTHING), inner)
    elif isinstance(before, list) and isinstance(after, list):
        ours, theirs = _by_name(before, after)
        for key in [*ours, *(key for key in theirs if key not in ours)]:
            yield from _of_values(ours.get(key, _NOTHING), theirs.get(key, _NOTHING), f"{path}[{key}]")
    else:
        yield FieldDifference(path, _text(before), _text(after))


def _by_name(before: list[Any], after: list[Any]) -> tuple[dict[Any, Any], dict[Any, Any]]:
    for name in _NAMES:
        if all(isinstance(one, dict) and isinstance(one.get(name), str) for one in (*before, *after)):
            ours, theirs = ({one[name]: one for one in items} for items in (before, after))
            if len(ours) == len(before) and len(theirs) == len(after):
                return ours, theirs
    return dict(enumerate(before)), dict(enumerate(after))


def _text(value: Any) -> str | None:
    if value is _NOTHING:
        return None
    text = orjson.dumps(value).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}{CUT}"
