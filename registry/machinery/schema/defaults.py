"""Defaults that a schema states: filled in where there is no value.

Compiled to closures that visit only what has defaults below it. Works on decoded objects, in place. A member gets its
default when it is missing, or null where null is no value; an element or value that is null (and may not be) likewise.
A struct that is no pointer is always there in Go, so it is made when something in it has a default.

Must hold: each place gets a copy of its own; a default is itself completed by the defaults within it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.schema.model import MISSING, Field, Node, Structure

Fill = Callable[[Any], None]
"""Completes a value that is there. What is not of the schema's type is left alone."""


class Defaulters:
    """Compiles defaulters; those of a structure are shared by all nodes that refer to it."""

    def __init__(self) -> None:
        self._structures: dict[Structure, Fill] = {}
        self._without_defaults: set[Structure] = set()

    def of(self, node: Node) -> Fill | None:
        """The defaulter of a node; None when there is nothing to fill in."""
        if not self._has_defaults_below(node):
            return None
        if node.structure is not None:
            return self._object(node.structure)
        return _items(node.items, self.of(node.items)) if node.items is not None else None

    def _object(self, structure: Structure) -> Fill:
        known = self._structures.get(structure)
        if known is not None:
            return known
        missing: dict[str, Node] = {}
        deeper: dict[str, tuple[Fill, bool]] = {}
        fill = self._structures[structure] = _object(missing, deeper)
        for name, field in structure.fields.items():
            if field.node.default is not MISSING:
                missing[name] = field.node
            below = self.of(field.node)
            if below is not None:
                deeper[name] = (below, _is_always_there(field) and _completes_empty(field.node))
        return fill

    def _has_defaults_below(self, node: Node) -> bool:
        """Whether anything within a value of the node may need a default. Types may contain themselves."""
        visited: set[Structure] = set()
        waiting = [node]
        while waiting:
            for below in self._below(waiting.pop(), visited):
                if below.default is not MISSING:
                    return True
                waiting.append(below)
        self._without_defaults |= visited
        return False

    def _below(self, node: Node, visited: set[Structure]) -> list[Node]:
        if node.items is not None:
            return [node.items]
        if node.structure is None or node.structure in visited or node.structure in self._without_defaults:
            return []
        visited.add(node.structure)
        return [field.node for field in node.structure.fields.values()]


def _is_always_there(field: Field) -> bool:
    return field.node.structure is not None and not field.is_pointer


def _completes_empty(node: Node) -> bool:
    """Whether even an empty object gets a default, in itself or in what is always there in it."""
    assert node.structure is not None
    fields = node.structure.fields.values()
    return any(
        field.node.default is not MISSING or (_is_always_there(field) and _completes_empty(field.node))
        for field in fields
    )


def _object(missing: Mapping[str, Node], deeper: Mapping[str, tuple[Fill, bool]]) -> Fill:
    def fill(value: Any) -> None:
        if type(value) is not dict:
            return
        for name, node in missing.items():
            if name not in value or (value[name] is None and not node.is_nullable):
                value[name] = objects.copied(node.default)
        for name, (fill_member, is_made) in deeper.items():
            member = value.get(name)
            if member is None and is_made:
                member = value[name] = {}
            if member is not None:
                fill_member(member)

    return fill


def _items(node: Node, fill_item: Fill | None) -> Fill:
    replaces_null = node.default is not MISSING and not node.is_nullable

    def fill(value: Any) -> None:
        for key, item in _entries(value):
            if item is None and replaces_null:
                value[key] = item = objects.copied(node.default)
            if fill_item is not None and item is not None:
                fill_item(item)

    return fill


def _entries(value: Any) -> Iterator[tuple[Any, Any]]:
    """The elements of a list with their indexes, or the values of a map with their keys."""
    if type(value) is list:
        return enumerate(value)
    return iter(value.items()) if type(value) is dict else iter(())
