"""gated_fields: drops fields whose feature gates are closed in the server's minor.

A path names members with dots; `[]` behind a member means each element of its list, `{}` each value of its map. The
last step names what is dropped: with `name` a member, with `name!=text` a member with another value. With `name[image]`
it is the elements of a list that have a member. Pure. Must hold: a field that the stored object uses stays, wherever in
the object the same path leads.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object

_LAST = re.compile(r"(\w+)(?:!=(\w+)|\[(\w+)\])?")


def drop(new: Object, paths: Sequence[str], old: Object | None = None) -> None:
    """Remove, in place, the fields at these paths that the old object does not use."""
    for path in paths:
        *parents, last = path.split(".")
        if old is None or not any(_uses(owner, last) for owner in _owners(old, parents)):
            for owner in _owners(new, parents):
                _drop(owner, last)


def _uses(owner: Object, last: str) -> bool:
    """Whether an object has what the last step of a path names."""
    name, kept, member = _step(last)
    if member:
        return any(member in one for one in owner.get(name) or ())
    return name in owner and (not kept or owner[name] != kept)


def _drop(owner: Object, last: str) -> None:
    if not _uses(owner, last):
        return
    name, _, member = _step(last)
    if member:
        owner[name] = [one for one in owner[name] if member not in one]
    if not member or not owner[name]:
        del owner[name]


def _step(last: str) -> tuple[str, str, str]:
    """The member of the last step, the value that stays, and the member of elements."""
    match = _LAST.fullmatch(last)
    assert match is not None
    return match[1], match[2] or "", match[3] or ""


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
