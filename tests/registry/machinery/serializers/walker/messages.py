"""Messages: Kubernetes' types on the wire, to plain values as JSON has them and back.

Compiled from the same facts as the schema (registry/machinery/schema/wire.py): a field's number and type, and the
property that it is. Values that JSON writes as text (times, quantities) or freely (raw JSON) are messages of their own
here. Must hold: an unknown field is skipped; members are written in the order of their numbers, and those that are no
pointers in Go are written even when they have no value, so that the bytes are kube-apiserver's.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from aio_apiserver.registry.machinery.schema import Catalog, wire
from aio_apiserver.registry.machinery.schema.wire import WireField
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import LENGTH, delimited, read_fields, tag
from tests.registry.machinery.serializers.walker import alternatives, leaves
from tests.registry.machinery.serializers.walker.leaves import Leaf

Value = dict[str, Any]


class _Member(Struct):
    """A field: where it stands on the wire, which property it is, and how its values are read and written.

    `zero` is what it is without a value; None if it is not there then.
    """

    number: int
    name: str
    label: str
    kind: int
    read: Callable[[int, bytes], Any]
    write: Callable[[Any], bytes]
    zero: Callable[[], bytes] | None


class Message(Struct, dict=True):
    """One type. Members are filled in after it is known, because types contain themselves."""

    by_number: dict[int, _Member] = field(default_factory=dict)
    embedded: "dict[int, Message]" = field(default_factory=dict)

    def read(self, data: bytes) -> Value:
        """The value in a message. Raises Malformed."""
        value: Value = {}
        for number, integer, content in read_fields(data):
            member = self.by_number.get(number)
            if member is not None:
                _put(value, member, member.read(integer, content))
            elif number in self.embedded:
                value.update(self.embedded[number].read(content))
        return value

    def write(self, value: Mapping[str, Any]) -> bytes:
        """The message of a value; members without a property are left out."""
        parts = []
        for number, member in self._in_order:
            if isinstance(member, Message):
                parts.append(tag(number, LENGTH) + delimited(member.write(value)))
            elif (found := value.get(member.name)) is not None:
                parts.append(_written(member, found))
            elif member.zero is not None:
                parts.append(_tagged(member, member.zero()))
        return b"".join(parts)

    @cached_property
    def _in_order(self) -> "Sequence[tuple[int, _Member | Message]]":
        members: dict[int, _Member | Message] = {**self.by_number, **self.embedded}
        return sorted(members.items())


def _put(value: Value, member: _Member, found: Any) -> None:
    if member.label == "repeated":
        value.setdefault(member.name, []).append(found)
    elif member.label == "map":
        value.setdefault(member.name, {})[found[0]] = found[1]
    else:
        value[member.name] = found


def _written(member: _Member, value: Any) -> bytes:
    if member.label == "repeated":
        return b"".join(_tagged(member, member.write(one)) for one in value)
    if member.label == "map":
        return b"".join(_tagged(member, member.write(pair)) for pair in sorted(value.items()))
    return _tagged(member, member.write(value))


def _tagged(member: _Member, encoded: bytes) -> bytes:
    return _field(member.number, member.kind, encoded)


def _field(number: int, kind: int, encoded: bytes) -> bytes:
    return tag(number, kind) + (delimited(encoded) if kind == LENGTH else encoded)


class Messages:
    """The messages of all types of one minor, compiled as they are asked for."""

    def __init__(self, types: Catalog) -> None:
        self._types = types
        self._known: dict[str, Message] = {}

    def of(self, definition: str) -> Message:
        """The message of a definition."""
        message = self._known.get(definition)
        if message is None:
            message = self._known[definition] = Message()
            published = self._types.definitions.get(definition)
            properties = wire.fields(definition) if published is None else published.get("properties", {})
            self._compile(definition, message, {wire.letters(name): name for name in properties})
        return message

    def _compile(self, definition: str, message: Message, names: Mapping[str, str]) -> None:
        """`names`: the properties of the struct around embedded ones, by their letters."""
        for name, one in wire.fields(definition, self._types.minor).items():
            known = names.get(wire.letters(name))
            if known is not None:
                message.by_number[one.number] = self._member(definition, known, one)
            elif wire.is_embedded(name, one):
                inner = message.embedded[one.number] = Message()
                self._compile(wire.definition_of(definition, one.type), inner, names)

    def _member(self, definition: str, name: str, one: WireField) -> _Member:
        leaf = self._pair(definition, one.type) if one.label == "map" else self._leaf(definition, one.type)
        may_be_absent = one.label != "optional" or one.is_pointer
        zero = None if may_be_absent else leaf.zero
        return _Member(one.number, name, one.label, leaf.kind, leaf.read, leaf.write, zero)

    def _leaf(self, definition: str, wire_type: str) -> Leaf:
        scalar = leaves.SCALARS.get(wire_type)
        if scalar is not None:
            return scalar
        name = wire_type.rpartition(".")[2]
        special = leaves.SPECIAL.get(name)
        if special is not None:
            return special
        if name in alternatives.NAMES:
            return alternatives.leaf_of(name, self._leaf(definition, "JSONSchemaProps"))
        message = self.of(wire.definition_of(definition, wire_type))
        return Leaf(lambda _integer, content: message.read(content), message.write, zero=lambda: message.write({}))

    def _pair(self, definition: str, wire_type: str) -> Leaf:
        """An entry of a map: a message of a key (1) and a value (2)."""
        _, _, value_type = wire_type.removeprefix("map<").removesuffix(">").partition(",")
        leaf = self._leaf(definition, value_type)

        def read(_integer: int, content: bytes) -> tuple[str, Any]:
            key, value = "", leaf.read(0, b"")
            for number, integer, part in read_fields(content):
                if number == 1:
                    key = part.decode(errors="replace")
                elif number == 2:
                    value = leaf.read(integer, part)
            return key, value

        def write(pair: tuple[str, Any]) -> bytes:
            key, value = pair
            return tag(1, LENGTH) + delimited(key.encode()) + _field(2, leaf.kind, leaf.write(value))

        return Leaf(read, write)
