"""gated_fields: drops fields whose feature gates are closed in the server's minor.

A path names members with dots; `[]` behind a member means each element of its list, `{}` each value of its map. The
last step names what is dropped: with `name` a member, with `name!=text` a member with another value. With `name[image]`
it is the elements of a list that have a member. With `owner?name` it is a member of `owner`, and `owner` itself when
it is empty then. Pure. Must hold: a field that the stored object uses stays, wherever in
the object the same path leads.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from aio_apiserver.base.unstructured import Object

_LAST = re.compile(r"(\w+)(?:!=(\w+)|\[(\w+)\]|\?(\w+))?")


def drop(new: Object, paths: Sequence[str], old: Object | None = None) -> None:
    """Remove, in place, the fields at these paths that the old object does not use."""
    for path in paths:
        *parents, last = path.split(".")
        if old is None or not any(_uses(owner, last) for owner in _owners(old, parents)):
            for owner in _owners(new, parents):
                _drop(owner, last)


def _uses(owner: Object, last: str) -> bool:
    """Whether an object has what the last step of a path names."""
    step = _step(last)
    value = owner.get(step.name)
    if step.element:
        return any(step.element in element for element in value or ())
    if step.inner:
        return step.inner in (value or ())
    return step.name in owner and (not step.other_than or value != step.other_than)


def _drop(owner: Object, last: str) -> None:
    if not _uses(owner, last):
        return
    step = _step(last)
    if step.element:
        owner[step.name] = [element for element in owner[step.name] if step.element not in element]
    if step.inner:
        del owner[step.name][step.inner]
    if not (step.element or step.inner) or not owner[step.name]:
        del owner[step.name]


class _Step(NamedTuple):
    """The last step: its member, the value that stays, the member of elements, and the member of an inner object."""

    name: str
    other_than: str
    element: str
    inner: str


def _step(last: str) -> _Step:
    match = _LAST.fullmatch(last)
    assert match is not None
    return _Step(*match.groups(default=""))


def _owners(value: Any, parents: Sequence[str]) -> Iterator[Object]:
    """The objects with the last member of a path."""
    if not isinstance(value, dict):
        return
    if not parents:
        yield value
        return
    first, rest = parents[0], parents[1:]
    member = value.get(first.rstrip("[]{}"))
    for one in _elements(member, first):
        yield from _owners(one, rest)


def _elements(member: Any, step: str) -> Sequence[Any]:
    if step.endswith("[]"):
        return member if isinstance(member, list) else ()
    if step.endswith("{}"):
        return list(member.values()) if isinstance(member, dict) else ()
    return (member,)
