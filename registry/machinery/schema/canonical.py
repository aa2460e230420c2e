"""Canonical output: an object as kube-apiserver prints it.

Keys come in the order of Go's fields, those of maps sorted; empty members are printed or left out as Go's tags say.
Compiled to closures, once a type: this is on the road of every write. How leaves look is decode.py's duty; here members
are only chosen and ordered.

Must hold: canonical output of canonical output is itself; nothing is changed, and nothing is shared with what was
printed but lists and maps of plain values. The plan for a shape (the keys that an object has, in their order) is made
once, because objects have few shapes; clients choose them, so only so many are remembered.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from typing import Any

from aio_apiserver.registry.machinery.schema import leaves
from aio_apiserver.registry.machinery.schema.model import Field, Kind, Node, Structure

MAX_SHAPES = 256

Print = Callable[[Any], Any]
"""From a value to what is printed. A member's gets None when there is no value, and may answer NOTHING."""


_Plan = tuple[bool, Mapping[str, None], Sequence[tuple[str, bool, Print]]]
"""How to print a shape: whether it is right as it is unless something in it is empty; what it lacks; and its members in
their order, each with whether it is printed as it is unless it is empty, and how it is printed else."""


class _Nothing(Enum):
    NOTHING = "nothing"


NOTHING = _Nothing.NOTHING
"""The answer for a member that is left out."""

_PLAIN = frozenset({Kind.STRING, Kind.BOOLEAN, Kind.INTEGER, Kind.NUMBER})
"""Kinds that print a value as it is, unless it is empty."""


class Printers:
    """Compiles printers; those of a structure are shared by all nodes that refer to it."""

    def __init__(self) -> None:
        self._structures: dict[Structure, Print] = {}

    def of(self, node: Node) -> Print | None:
        """The printer of a value that is there; None when it is printed as it is."""
        if node.structure is not None:
            return self._object(node.structure)
        match node.kind:
            case Kind.LIST:
                return self._list(node)
            case Kind.MAP:
                return self._map(node)
            case Kind.ONE_OF:
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
            members[name] = _Member(field, self.of(field.node))
        return printer

    def _list(self, node: Node) -> Print | None:
        assert node.items is not None
        print_item = self.of(node.items)
        return None if print_item is None else lambda value: [print_item(item) for item in value]

    def _map(self, node: Node) -> Print:
        assert node.items is not None
        print_item = self.of(node.items)
        if print_item is None:
            return _sorted
        return lambda value: {key: print_item(item) for key, item in _sorted(value).items()}

    def _one_of(self, node: Node) -> Print:
        objects, *others = (self.of(one) for one in node.alternatives)
        assert objects is not None
        (other,) = others

        def printed(value: Any) -> Any:
            if type(value) is dict:
                return objects(value)
            return value if other is None else other(value)

        return printed


class _Member:
    """How one member of an object is printed."""

    __slots__ = ("is_always_printed", "is_plain", "print")

    def __init__(self, field: Field, print_value: Print | None) -> None:
        self.is_plain = field.node.kind in _PLAIN
        self.print = _member(field, print_value)
        self.is_always_printed = self.print(None) is not NOTHING


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
        for name, is_plain, print_member in steps:
            item = value[name]
            if not (item and is_plain):
                item = print_member(item)
                if item is NOTHING:
                    continue
            result[name] = item
        return result

    return printed


def _planned(members: Mapping[str, _Member], shape: Collection[str]) -> _Plan:
    steps = [
        (name, member.is_plain, member.print)
        for name, member in members.items()
        if member.is_always_printed or name in shape
    ]
    missing = dict.fromkeys(name for name, _, _ in steps if name not in shape)
    is_printed_already = [name for name, is_plain, _ in steps if is_plain] == list(shape) and not missing
    return is_printed_already, missing, steps


def _member(field: Field, print_value: Print | None) -> Print:
    kind = field.node.kind
    if kind in _PLAIN:
        return _plain(field)
    if kind in {Kind.LIST, Kind.MAP, Kind.BYTES}:
        return _container(field, print_value)
    if kind is Kind.OBJECT and not field.is_pointer:
        assert print_value is not None
        return lambda value: print_value(value or {})
    empty = None if field.is_pointer else leaves.ZEROS.get(kind)
    is_shown = field.is_printed or not (field.is_pointer or field.hides_zero)
    return _struct(empty if is_shown else NOTHING, print_value)


def _plain(field: Field) -> Print:
    """A scalar: its zero is a value of its own only behind a pointer."""
    empty = None if field.is_pointer else leaves.ZEROS[field.node.kind]
    absent = empty if field.is_printed else NOTHING
    keeps_zero = field.is_pointer or field.is_printed

    def printed(value: Any) -> Any:
        if value is None:
            return absent
        return value if value or keeps_zero else NOTHING

    return printed


def _container(field: Field, print_value: Print | None) -> Print:
    """A list, a map or bytes: nothing and empty are the same, where the object is not kept as JSON."""
    absent = None if field.is_printed else NOTHING
    keeps_empty = field.is_printed and field.keeps_empty

    def printed(value: Any) -> Any:
        if value:
            return value if print_value is None else print_value(value)
        return value if keeps_empty and value is not None else absent

    return printed


def _struct(absent: Any, print_value: Print | None) -> Print:
    """What is a struct or a pointer in Go: it is shown whenever it is there."""

    def printed(value: Any) -> Any:
        if value is None:
            return absent
        return value if print_value is None else print_value(value)

    return printed


def _sorted(value: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(value.items())) if len(value) > 1 else value
