"""Defaults: applies the defaults of an OpenAPI schema to decoded objects, in place.

Compiled to closures that visit the nodes with defaults. A missing member gets its default, and so does a null that is
not nullable, in objects, lists and maps. A Go struct that is no pointer exists in every object, so it is created when
it contains a default.

Must hold: each use gets its own copy of a default. A default is completed by the defaults inside of it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.schema.model import MISSING, SchemaField, SchemaKind, SchemaNode, Structure

Fill = Callable[[Any], None]
"""Completes an existing value. A value of another type stays unchanged."""


class Defaulters:
    """Compiles defaulters. Nodes that refer to the same struct share one."""

    def __init__(self) -> None:
        self._structures: dict[Structure, Fill] = {}
        self._without_defaults: set[Structure] = set()

    def of(self, node: SchemaNode) -> Fill | None:
        """The defaulter of a node; None when there are no defaults."""
        if not self._has_defaults_below(node):
            return None
        if node.structure is not None:
            return self._object(node.structure)
        return _items(node.items, self.of(node.items)) if node.items is not None else None

    def _object(self, structure: Structure) -> Fill:
        known = self._structures.get(structure)
        if known is not None:
            return known
        missing: list[_Missing] = []
        deeper: list[_Deeper] = []
        fill = self._structures[structure] = _object(missing, deeper)
        for name, field in structure.fields.items():
            node = field.node
            if node.default is not MISSING:
                missing.append((name, node.default, _copier(node.default), MISSING if node.is_nullable else None))
            below = self.of(node)
            if below is not None:
                is_made = _is_always_there(field) and _completes_empty(node)
                deeper.append((name, below, self._of_items(node), is_made))
        return fill

    def _of_items(self, node: SchemaNode) -> Fill | None:
        """The defaulter of the elements of a list without defaults for elements that are null."""
        if node.items is None or node.kind is not SchemaKind.LIST or node.items.default is not MISSING:
            return None
        return self.of(node.items)

    def _has_defaults_below(self, node: SchemaNode) -> bool:
        """Whether a value of the node may contain a default. Types may contain themselves."""
        visited: set[Structure] = set()
        waiting = [node]
        while waiting:
            for below in self._below(waiting.pop(), visited):
                if below.default is not MISSING:
                    return True
                waiting.append(below)
        self._without_defaults |= visited
        return False

    def _below(self, node: SchemaNode, visited: set[Structure]) -> list[SchemaNode]:
        if node.items is not None:
            return [node.items]
        if node.structure is None or node.structure in visited or node.structure in self._without_defaults:
            return []
        visited.add(node.structure)
        return [field.node for field in node.structure.fields.values()]


def _is_always_there(field: SchemaField) -> bool:
    return field.node.structure is not None and not field.is_pointer


def _completes_empty(node: SchemaNode) -> bool:
    """Whether an empty object gets a default, directly or in a struct that always exists."""
    assert node.structure is not None
    fields = node.structure.fields.values()
    return any(
        field.node.default is not MISSING or (_is_always_there(field) and _completes_empty(field.node))
        for field in fields
    )


_Missing = tuple[str, Any, Callable[[Any], Any], Any]
"""A member with a default: its name, the default, how that is copied, and what stands for a missing value."""
_Deeper = tuple[str, Fill, Fill | None, bool]
"""A member with defaults inside: its name, its defaulter, that of the elements of its list, and whether it is created.
"""


def _copier(default: Any) -> Callable[[Any], Any]:
    """How each use gets its own copy of a default. The type of a scalar returns the scalar itself."""
    if default is None or (default and isinstance(default, dict | list)):
        return objects.copied
    return type(default)


def _object(missing: Sequence[_Missing], deeper: Sequence[_Deeper]) -> Fill:
    def fill(value: Any) -> None:
        if type(value) is not dict:
            return
        for name, default, copy, unset in missing:
            if value.get(name, unset) is unset:
                value[name] = copy(default)
        for name, fill_member, fill_item, is_made in deeper:
            member = value.get(name)
            if member is None and is_made:
                member = value[name] = {}
            if fill_item is not None and type(member) is list:
                for item in member:
                    if item is not None:
                        fill_item(item)
            elif member is not None:
                fill_member(member)

    return fill


def _items(node: SchemaNode, fill_item: Fill | None) -> Fill:
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
