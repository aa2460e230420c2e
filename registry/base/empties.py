"""Empties: the empty lists and maps in a client's JSON, which kube-apiserver remembers until it stores the object.

Stored objects leave empty fields out. Go's structs still tell `[]` from null before that, and two readers see the
difference: managedFields, and errors that print a struct.

Pure.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Empty(NamedTuple):
    """The path of one empty value (names, keys and indexes), and whether it is a map or a list."""

    path: tuple[str | int, ...]
    is_map: bool

    def new(self) -> Any:
        return {} if self.is_map else []


Empties = Sequence[Empty]


def show(printed: Mapping[str, Any], empties: Empties) -> None:
    """Put `[]` or `{}` in place of null in a struct that an error prints. Fields with omitempty stay absent."""
    for one in empties:
        parent = _parent(printed, one)
        if parent is not None and parent.get(one.path[-1], "") is None:
            parent[one.path[-1]] = one.new()


def put_back(obj: Mapping[str, Any], empties: Empties) -> None:
    """Put the empty values into an object. Such an object is for admission and printing; the registry does not store
    it.
    """
    for one in empties:
        parent = _parent(obj, one)
        if parent is not None and parent.get(one.path[-1]) is None:
            parent[one.path[-1]] = one.new()


def places(empties: Empties) -> frozenset[str]:
    """The paths, written as in field errors."""
    return frozenset("".join(map(_written, one.path)).removeprefix(".") for one in empties)


def _written(step: str | int) -> str:
    return f"[{step}]" if isinstance(step, int) else f".{step}"


def within(part: Mapping[str, Any], path: tuple[str, ...], empties: Empties) -> Mapping[str, Any]:
    """The part of an object at `path`, with the empty values that the client sent as its direct members."""
    sent = {str(one.path[-1]): one.new() for one in empties if one.path[:-1] == path}
    return {**sent, **part} if sent else part


def is_still_empty(obj: Mapping[str, Any], one: Empty) -> bool:
    """Whether this value is still empty after defaulting and admission."""
    parent = _parent(obj, one)
    return parent is not None and not parent.get(one.path[-1])


def _parent(obj: Any, one: Empty) -> dict[str | int, Any] | None:
    """The map that holds the value; None when the object has changed so that the path leads nowhere."""
    for step in one.path[:-1]:
        try:
            obj = obj[step]
        except (KeyError, IndexError, TypeError):
            return None
    return obj if isinstance(obj, dict) else None
