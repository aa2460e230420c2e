"""differences: the fields in which two states of an object differ, as paths with the values before and after.

Pure. Items of a list are compared by their names, where all have one; by their places in other lists. Secret values are
hidden; a hidden value that has changed is named.

    spec.replicas    2 -> 3
    status.conditions[Ready].status    "False" -> "True"

Must hold: the work is paid for before it is done. At most 60 fields are named, and all are counted.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from msgspec import Struct

from aio_apiserver.apiserver.console.timeline import hidden_values
from aio_apiserver.apiserver.console.timeline.hidden_values import HIDDEN
from aio_apiserver.base.budget import Budget
from aio_apiserver.base.short_texts import cut

MOST = 60
_LONGEST = 400
_LEFT_OUT = frozenset({"managedFields", "resourceVersion", "generation"})
"""Of the metadata."""
_NAMES = ("name", "type", "uid", "ip", "key")
_NOTHING: Any = object()
_HIDDEN_TEXT = f'"{HIDDEN}"'
_CHANGED_TEXT = '"(hidden, changed)"'
_LEVELS = 8
"""Above this depth, equal values are left out by one comparison. Below, each would read the same values again."""
_AT_ONCE = 16
"""The members that a comparison of whole maps reads in the time of a step."""

_Path = tuple[Any, str]
"""A path as its parent and its last step: most paths are never written."""


class FieldDifference(NamedTuple):
    """One field. `before` or `after` is None where the field did not exist; both are JSON texts."""

    path: str
    before: str | None
    after: str | None


class Differences(Struct, frozen=True):
    """The first fields that differ, and how many do."""

    fields: tuple[FieldDifference, ...] = ()
    count: int = 0


def differences(
    before: Mapping[str, Any], after: Mapping[str, Any], budget: Budget, *, is_secret: bool = False
) -> Differences:
    """The fields that differ. is_secret: the object is a Secret. Raises BudgetExceeded."""
    comparison = _Comparison(budget)
    for name in dict.fromkeys((*before, *after)):
        values = before.get(name, _NOTHING), after.get(name, _NOTHING)
        is_hidden = is_secret and name in hidden_values.OF_SECRETS
        if name == "metadata":
            values = _without_system_fields(values[0]), _without_system_fields(values[1])
        comparison.compare(*values, (None, name), is_hidden=is_hidden)
    return Differences(tuple(comparison.fields), comparison.count)


class _Comparison:
    """The comparison of two objects."""

    def __init__(self, budget: Budget) -> None:
        self.fields: list[FieldDifference] = []
        self.count = 0
        self._budget = budget

    def compare(self, before: Any, after: Any, path: _Path, level: int = 1, *, is_hidden: bool) -> None:
        """Note where two values differ. is_hidden: they, or their members, are secret."""
        self._budget.spend()
        if level < _LEVELS and before == after:
            return
        if isinstance(before, dict) and isinstance(after, dict):
            self._compare_members(before, after, path, level, is_hidden=is_hidden)
        elif isinstance(before, list) and isinstance(after, list):
            self._compare_items(before, after, path, level, is_hidden=is_hidden)
        elif before != after:
            self._note(before, after, path, is_hidden=is_hidden)

    def _compare_members(
        self, before: Mapping[str, Any], after: Mapping[str, Any], path: _Path, level: int, *, is_hidden: bool
    ) -> None:
        names, are_plain = _changed_names(before, after, self._budget)
        few = names[: MOST - len(self.fields)] if are_plain else names
        for name in few:
            values = before.get(name, _NOTHING), after.get(name, _NOTHING)
            hides = is_hidden or any(hidden_values.is_hidden(name, holder) for holder in (before, after))
            self.compare(*values, (path, f".{name}"), level + 1, is_hidden=hides)
        self.count += len(names) - len(few)

    def _compare_items(
        self, before: Sequence[Any], after: Sequence[Any], path: _Path, level: int, *, is_hidden: bool
    ) -> None:
        ours, theirs = _by_name(before, after, self._budget)
        for key in [*ours, *(key for key in theirs if key not in ours)]:
            values = ours.get(key, _NOTHING), theirs.get(key, _NOTHING)
            self.compare(*values, (path, f"[{key}]"), level + 1, is_hidden=is_hidden)

    def _note(self, before: Any, after: Any, path: _Path, *, is_hidden: bool) -> None:
        self.count += 1
        if len(self.fields) >= MOST:
            return
        texts = [_text(value, self._budget, is_hidden=is_hidden) for value in (before, after)]
        if texts[0] == texts[1] == _HIDDEN_TEXT:
            texts[1] = _CHANGED_TEXT
        self.fields.append(FieldDifference(_written(path), *texts))


def _changed_names(before: Mapping[str, Any], after: Mapping[str, Any], budget: Budget) -> tuple[Sequence[str], bool]:
    """The members that may differ, and whether they are plain values, all of which differ."""
    budget.spend((len(before) + len(after)) // _AT_ONCE)
    names = dict.fromkeys((*before, *after))
    try:
        changed = {name for name, _ in before.items() ^ after.items()}
    except TypeError:  # a list or a map cannot be hashed
        return list(names), False
    return [name for name in names if name in changed], True


def _by_name(
    before: Sequence[Any], after: Sequence[Any], budget: Budget
) -> tuple[Mapping[Any, Any], Mapping[Any, Any]]:
    """The items of two lists by their names, or by their places."""
    for name in _NAMES:
        budget.spend((len(before) + len(after)) // _AT_ONCE)
        if all(isinstance(one, dict) and isinstance(one.get(name), str) for one in (*before, *after)):
            ours, theirs = ({one[name]: one for one in items} for items in (before, after))
            if len(ours) == len(before) and len(theirs) == len(after):
                return ours, theirs
    return dict(enumerate(before)), dict(enumerate(after))


def _without_system_fields(metadata: Any) -> Any:
    if not isinstance(metadata, dict):
        return metadata
    return {name: value for name, value in metadata.items() if name not in _LEFT_OUT}


def _written(path: _Path) -> str:
    steps: list[str] = []
    step: _Path | None = path
    while step is not None:
        step, text = step
        steps.append(text)
    return cut("".join(reversed(steps)), _LONGEST)


def _text(value: Any, budget: Budget, *, is_hidden: bool) -> str | None:
    if value is _NOTHING:
        return None
    if is_hidden:
        shown = dict.fromkeys(value, HIDDEN) if isinstance(value, dict) else HIDDEN
    else:
        shown = value[:_LONGEST] if isinstance(value, str) else hidden_values.masked(value, budget)
    return cut(orjson.dumps(shown).decode(), _LONGEST)
