"""Empties: the empty lists and maps that a client has sent.

In objects they are nothing, as in storage. Go's structs tell them from nothing until they are stored, and so do the
owners of fields and the errors that show structs. Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Empty(NamedTuple):
    """Where one is, by names, keys and indexes, and whether it is a map."""

    path: tuple[str | int, ...]
    is_map: bool

    def new(self) -> Any:
        return {} if self.is_map else []


Empties = Sequence[Empty]


def show(printed: Mapping[str, Any], empties: Empties) -> None:
    """Show them in a printed object, in place of null. What is left out when it is empty stays away."""
    for one in empties:
        parent = _parent(printed, one)
        if parent is not None and parent.get(one.path[-1], "") is None:
            parent[one.path[-1]] = one.new()


def put_back(obj: Mapping[str, Any], empties: Empties) -> None:
    """Put them into an object, which is then none of the registry's any more."""
    for one in empties:
        parent = _parent(obj, one)
        if parent is not None and parent.get(one.path[-1]) is None:
            parent[one.path[-1]] = one.new()


def places(empties: Empties) -> frozenset[str]:
    """Where they are, as errors write paths."""
    return frozenset("".join(map(_written, one.path)).removeprefix(".") for one in empties)


def _written(step: str | int) -> str:
    return f"[{step}]" if isinstance(step, int) else f".{step}"


def within(part: Mapping[str, Any], path: tuple[str, ...], empties: Empties) -> Mapping[str, Any]:
    """A part of an object, which stands at a path, with what was sent empty right in it."""
    sent = {str(one.path[-1]): one.new() for one in empties if one.path[:-1] == path}
    return {**sent, **part} if sent else part


def is_still_empty(obj: Mapping[str, Any], one: Empty) -> bool:
    """Whether nothing has been filled in there."""
    parent = _parent(obj, one)
    return parent is not None and not parent.get(one.path[-1])


def _parent(obj: Any, one: Empty) -> dict[str | int, Any] | None:
    """The map in which one is; None where the object has become another meanwhile."""
    for step in one.path[:-1]:
        try:
            obj = obj[step]
        except (KeyError, IndexError, TypeError):
            return None
    return obj if isinstance(obj, dict) else None
