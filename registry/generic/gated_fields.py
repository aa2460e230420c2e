"""gated_fields: drops fields whose feature gates are closed in the server's minor.

A path names members with dots; `[]` behind a member means each element of its list, `{}` each value of its map. The
last step names what is dropped: with `name` a member, with `name!=text` a member with another value. With `name[image]`
it is the elements of a list that have a member. With `owner?name` it is a member of `owner`, and `owner` itself when
it is empty then. Pure. Must hold: a field that the stored object uses stays, wherever in
the object the same path leads.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from aio_apiserver.base.unstructured import Object

_LAST = re.compile(r"(\w+)(?:!=(\w+)|\[(\w+)\]|\?(\w+))?")


class _Step(NamedTuple):
    """The last step: its member, the value that stays, the member of elements, and the member of an inner object."""

    name: str
    other_than: str
    element: str
    inner: str


class _Level(NamedTuple):
    """The paths below one step. `inner`: by member and its `[]` or `{}`; `last`: the last steps, by path."""

    inner: dict[tuple[str, str], "_Level"]
    last: list[tuple[str, _Step]]


def drop(new: Object, paths: Sequence[str], old: Object | None = None) -> None:
    """Remove, in place, the fields at these paths that the old object does not use.

    Most objects use none of the fields, so all paths are looked up in one walk.
    """
    if not paths:
        return
    used: set[str] = set()
    _collect(new, _tree(tuple(paths)), used)
    for path in used:
        *parents, last = path.split(".")
        step = _step(last)
        if old is None or not any(_uses(owner, step) for owner in _owners(old, parents)):
            for owner in _owners(new, parents):
                _drop(owner, step)


@cache
def _tree(paths: tuple[str, ...]) -> _Level:
    root = _Level({}, [])
    for path in paths:
        *parents, last = path.split(".")
        level = root
        for parent in parents:
            level = level.inner.setdefault(_member(parent), _Level({}, []))
        level.last.append((path, _step(last)))
    return root


def _collect(owner: Object, level: _Level, used: set[str]) -> None:
    """Add the paths whose fields an object uses."""
    for path, step in level.last:
        if step.name in owner and _uses(owner, step):
            used.add(path)
    for (name, kind), inner in level.inner.items():
        if name in owner:
            for value in _elements(owner[name], kind):
                if isinstance(value, dict):
                    _collect(value, inner, used)


def _uses(owner: Object, step: _Step) -> bool:
    """Whether an object has what the last step of a path names."""
    value = owner.get(step.name)
    if step.element:
        return any(step.element in element for element in value or ())
    if step.inner:
        return step.inner in (value or ())
    return step.name in owner and (not step.other_than or value != step.other_than)


def _drop(owner: Object, step: _Step) -> None:
    if not _uses(owner, step):
        return
    if step.element:
        owner[step.name] = [element for element in owner[step.name] if step.element not in element]
    if step.inner:
        del owner[step.name][step.inner]
    if not (step.element or step.inner) or not owner[step.name]:
        del owner[step.name]


def _step(last: str) -> _Step:
    match = _LAST.fullmatch(last)
    assert match is not None
    return _Step(*match.groups(default=""))


def _member(step: str) -> tuple[str, str]:
    """The member of a step, and its `[]` or `{}`."""
    name = step.rstrip("[]{}")
    return name, step[len(name) :]


def _owners(value: Any, parents: Sequence[str]) -> Iterator[Object]:
    """The objects with the last member of a path."""
    if not isinstance(value, dict):
        return
    if not parents:
        yield value
        return
    name, kind = _member(parents[0])
    for element in _elements(value.get(name), kind):
        yield from _owners(element, parents[1:])


def _elements(value: Any, kind: str) -> Sequence[Any]:
    if kind == "[]":
        return value if isinstance(value, list) else ()
    if kind == "{}":
        return list(value.values()) if isinstance(value, dict) else ()
    return (value,)
