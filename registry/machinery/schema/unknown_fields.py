"""unknown_fields: drops from stored objects the fields of other minors, as Go's decoder does.

A newer replica on the same store writes fields that the types of this minor do not have. kube-apiserver loses them when
it reads the object. wire.json has the fields of all minors; those without a property in a definition are unknown to it.
varying_types.json has the kinds with such fields, and is generated (scripts/upstream/tables/varying_types.py).

Pure. Must hold: a type is compiled when its first stored object is read. A type that contains itself is not searched
again inside of itself; such types are the same in all minors.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from aio_apiserver.registry.machinery.schema import wire
from aio_apiserver.registry.machinery.schema.catalog import Catalog
from aio_apiserver.registry.machinery.schema.definitions import TypeMeta
from aio_apiserver.registry.machinery.schema.model import SchemaNode, Structure

_FILE = Path(__file__).with_name("varying_types.json")

Drop = Callable[[Any], bool]
"""Drops fields of a value in place, and tells whether there were any."""


def dropper(types: Catalog, type_meta: Mapping[str, str]) -> Drop | None:
    """Drops the fields that the minor of the types does not know from the objects of an apiVersion and kind.

    None for a kind whose fields are the same in all minors.
    """
    group, _, version = type_meta["apiVersion"].rpartition("/")
    definition = types.kinds.get(TypeMeta(group, version, type_meta["kind"]))
    if definition is None or definition not in _varying():
        return None
    find = cache(lambda: compiled(types.type_of(definition).node))

    def drop(value: Any) -> bool:
        drop_fields = find()
        return drop_fields is not None and drop_fields(value)

    return drop


@cache
def _varying() -> frozenset[str]:
    """The definitions of kinds whose fields are not the same in all minors."""
    return frozenset(orjson.loads(_FILE.read_bytes())["types"])


def unknown_names(definition: str, properties: Sequence[str]) -> Sequence[str]:
    """The fields of other minors that a definition with these properties does not have."""
    return tuple(_unknown(definition, frozenset(map(wire.letters, properties))))


def _unknown(definition: str, known: frozenset[str]) -> Iterator[str]:
    for name, field in wire.fields(definition).items():
        if wire.letters(name) in known:
            continue
        struct = wire.definition_of(definition, field.type)
        if wire.is_embedded(name, field) and not known.isdisjoint(map(wire.letters, wire.fields(struct))):
            yield from _unknown(struct, known)
        else:
            yield name


def compiled(node: SchemaNode) -> Drop | None:
    """The function for the objects of a type; None when no minor has other fields of it."""
    return _Drops().of(node)


class _Drops:
    """Compiles the nodes of one type."""

    def __init__(self) -> None:
        self._of_structures: dict[str, Drop | None] = {}

    def of(self, node: SchemaNode) -> Drop | None:
        """The function for the values of a node; None when nothing below it can be unknown."""
        if node.structure is not None:
            return self._of_structure(node.structure)
        of_items = self.of(node.items) if node.items is not None else None
        return None if of_items is None else _of_elements(of_items)

    def _of_structure(self, structure: Structure) -> Drop | None:
        name = structure.name
        if name not in self._of_structures:
            self._of_structures[name] = None
            self._of_structures[name] = self._compile(structure)
        return self._of_structures[name]

    def _compile(self, structure: Structure) -> Drop | None:
        names = frozenset(unknown_names(structure.name, tuple(structure.fields)))
        drops = ((field.name, self.of(field.node)) for field in structure.fields.values())
        members = tuple((name, drop) for name, drop in drops if drop is not None)
        return _of_object(names, members) if names or members else None


def _of_object(names: frozenset[str], members: Sequence[tuple[str, Drop]]) -> Drop:
    def drop(value: Any) -> bool:
        is_changed = False
        if not names.isdisjoint(value):
            is_changed = True
            for name in names & value.keys():
                del value[name]
        for name, of_member in members:
            member = value.get(name)
            if member and of_member(member):
                is_changed = True
        return is_changed

    return drop


def _of_elements(of_element: Drop) -> Drop:
    """For lists, and for maps by their values."""

    def drop(value: Any) -> bool:
        is_changed = False
        for one in value.values() if isinstance(value, dict) else value:
            if of_element(one):
                is_changed = True
        return is_changed

    return drop
