"""Canonical: prints an object as kube-apiserver does: fields in the order of the Go struct, map keys sorted.

Go's tags decide whether an empty member is printed. Printers are compiled to closures, once a type, because every write
runs them. decode.py has already normalized the scalars; here members are chosen and ordered.

The plan for the keys of an object is cached, since objects have few sets of keys. The cache is limited, since clients
choose the keys.

Must hold: canonical output of canonical output is itself. The input is not changed; the output shares with it the lists
and maps of scalars.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from typing import Any

from aio_apiserver.registry.machinery.schema import scalars
from aio_apiserver.registry.machinery.schema.model import SchemaField, SchemaKind, SchemaNode, Structure

MAX_SHAPES = 256

Print = Callable[[Any], Any]
"""From a value to its printed form. The printer of a member gets None for a missing value and may return NOTHING."""


_Step = tuple[str, Print | None, Print | None, Print]
"""How to print a member: its name, the printer of its value, that of the elements of its list (None: unchanged), and
the printer of an empty or missing value.
"""
_Plan = tuple[bool, Mapping[str, None], Sequence[_Step]]
"""How to print an object with these keys: whether it is already canonical when no member is empty; its missing members;
its members in order.
"""


class _Nothing(Enum):
    NOTHING = "nothing"


NOTHING = _Nothing.NOTHING
"""Returned for a member that is not printed."""

_PLAIN = frozenset({SchemaKind.STRING, SchemaKind.BOOLEAN, SchemaKind.INTEGER, SchemaKind.NUMBER})
"""Kinds whose values are printed unchanged unless empty."""


class Printers:
    """Compiles printers. Nodes that refer to the same struct share one."""

    def __init__(self) -> None:
        self._structures: dict[Structure, Print] = {}

    def of(self, node: SchemaNode) -> Print | None:
        """The printer of an existing value; None when the value is printed unchanged."""
        if node.structure is not None:
            return self._object(node.structure)
        match node.kind:
            case SchemaKind.LIST:
                return self._list(node)
            case SchemaKind.MAP:
                return self._map(node)
            case SchemaKind.ONE_OF:
                return self._one_of(node)
            case _:
                return None

    def _object(self, structure: Structure) -> Print:
        known = self._structures.get(structure)
        if known is not None:
            return known
        members: dict[str, _Member] = {}
        printer = self._structures[structure] = _object(members)
        for name, field in structure.fields.items():
            members[name] = _Member(field, self.of(field.node), self._of_items(field.node))
        return printer

    def _of_items(self, node: SchemaNode) -> Print | None:
        """The printer of the elements of a list; None for all else, and where they are printed unchanged."""
        return self.of(node.items) if node.kind is SchemaKind.LIST and node.items is not None else None

    def _list(self, node: SchemaNode) -> Print | None:
        assert node.items is not None
        print_item = self.of(node.items)
        return None if print_item is None else lambda value: [print_item(item) for item in value]

    def _map(self, node: SchemaNode) -> Print:
        assert node.items is not None
        print_item = self.of(node.items)
        if print_item is None:
            return _sorted
        return lambda value: {key: print_item(item) for key, item in _sorted(value).items()}

    def _one_of(self, node: SchemaNode) -> Print:
        objects, *others = (self.of(one) for one in node.alternatives)
        assert objects is not None
        (other,) = others

        def printed(value: Any) -> Any:
            if type(value) is dict:
                return objects(value)
            return value if other is None else other(value)

        return printed


class _Member:
    """The printer of one member of an object."""

    __slots__ = ("is_always_printed", "is_plain", "print_empty", "print_items", "print_value")

    def __init__(self, field: SchemaField, print_value: Print | None, print_items: Print | None) -> None:
        self.is_plain = field.node.kind in _PLAIN
        self.print_value = print_value
        self.print_items = print_items
        self.print_empty = _empty(field, print_value)
        self.is_always_printed = self.print_empty(None) is not NOTHING


def _object(members: Mapping[str, _Member]) -> Print:
    plans: dict[tuple[str, ...], _Plan] = {}

    def printed(value: Any) -> Any:
        shape = tuple(value)
        plan = plans.get(shape)
        if plan is None:
            plan = _planned(members, shape)
            if len(plans) < MAX_SHAPES:
                plans[shape] = plan
        is_printed_already, missing, steps = plan
        if is_printed_already and all(value.values()):
            return value.copy()
        if missing:
            value = {**value, **missing}
        result = {}
        for name, print_value, print_items, print_empty in steps:
            item = value[name]
            if not item:
                item = print_empty(item)
                if item is NOTHING:
                    continue
            elif print_items is not None:
                item = list(map(print_items, item))
            elif print_value is not None:
                item = print_value(item)
            result[name] = item
        return result

    return printed


def _planned(members: Mapping[str, _Member], shape: Collection[str]) -> _Plan:
    shown = {name: member for name, member in members.items() if member.is_always_printed or name in shape}
    steps = [(name, one.print_value, one.print_items, one.print_empty) for name, one in shown.items()]
    missing = dict.fromkeys(name for name in shown if name not in shape)
    is_printed_already = [name for name, one in shown.items() if one.is_plain] == list(shape) and not missing
    return is_printed_already, missing, steps


def _empty(field: SchemaField, print_value: Print | None) -> Print:
    """The printer of an empty or missing value of a member."""
    kind = field.node.kind
    if kind in _PLAIN:
        return _plain(field)
    if kind in {SchemaKind.LIST, SchemaKind.MAP, SchemaKind.BYTES}:
        return _container(field)
    if kind is SchemaKind.OBJECT and not field.is_pointer:
        assert print_value is not None
        return lambda value: print_value(value or {})
    empty = None if field.is_pointer else scalars.ZEROS.get(kind)
    is_shown = field.is_printed or not (field.is_pointer or field.hides_zero)
    return _struct(empty if is_shown else NOTHING, print_value)


def _plain(field: SchemaField) -> Print:
    """A scalar. Its zero value is printed if the field is a pointer or has no omitempty."""
    empty = None if field.is_pointer else scalars.ZEROS[field.node.kind]
    absent = empty if field.is_printed else NOTHING
    keeps_zero = field.is_pointer or field.is_printed

    def printed(value: Any) -> Any:
        if value is None:
            return absent
        return value if keeps_zero else NOTHING

    return printed


def _container(field: SchemaField) -> Print:
    """A list, a map or bytes. Empty equals absent, except in types that are stored as JSON."""
    absent = None if field.is_printed else NOTHING
    keeps_empty = field.is_printed and field.keeps_empty

    def printed(value: Any) -> Any:
        return value if keeps_empty and value is not None else absent

    return printed


def _struct(absent: Any, print_value: Print | None) -> Print:
    """A Go struct or pointer: it is printed when it is set."""

    def printed(value: Any) -> Any:
        if value is None:
            return absent
        return value if print_value is None else print_value(value)

    return printed


def _sorted(value: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(value.items())) if len(value) > 1 else value
