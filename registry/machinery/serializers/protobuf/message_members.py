"""Message members: the fields of a type's protobuf message, from wire.json and the properties of its schema.

Pure; knows neither bytes nor generated code. Must hold: members come in the order of their numbers. Members that are no
pointers in Go are written even without a value, so that the bytes are kube-apiserver's.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from aio_apiserver.registry.machinery.schema import Catalog, wire
from aio_apiserver.registry.machinery.schema.wire import WireField

REPEATED, MAP = "repeated", "map"
_SCHEMA = "JSONSchemaProps"
_OF_SCHEMAS = frozenset({"JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"})
SCALARS = frozenset({"string", "bytes", "bool", "int32", "int64", "double"})
_SPECIAL = frozenset(
    {"Time", "MicroTime", "Quantity", "IntOrString", "RawExtension", "JSON", "FieldsV1", "ExtraValue", "Verbs"}
)
"""Messages that are not objects in JSON, by the last word of their names."""


class WireShape(Struct, frozen=True):
    """What one value is: a scalar, a special message, or (with a `definition`) the message of a type.

    Of an alternative (a schema or something else) the definition is that of the schema.
    """

    name: str
    definition: str = ""


class Member(Struct, frozen=True):
    """A field of a message, with the name of its property. `shape` is that of the values for a map."""

    number: int
    name: str
    label: str
    shape: WireShape
    is_always_written: bool = False


class Embedded(Struct, frozen=True):
    """A field for an embedded struct, whose members are properties of the outer struct."""

    number: int
    definition: str
    members: "Sequence[Member | Embedded]"


def members_of(definition: str, types: Catalog) -> Sequence[Member | Embedded]:
    """The members of a definition's message, in order."""
    published = types.definitions.get(definition)
    properties = wire.fields(definition) if published is None else published.get("properties", {})
    return _sorted(_members(definition, types.minor, {wire.letters(name): name for name in properties}))


def _members(definition: str, minor: str, names: Mapping[str, str]) -> Iterator[Member | Embedded]:
    """The members of a struct and of those that it embeds. names: the properties of the outermost, by their letters."""
    for name, one in wire.fields(definition, minor).items():
        known = names.get(wire.letters(name))
        if known is not None:
            yield _member(definition, known, one)
        elif wire.is_embedded(name, one):
            inner = wire.definition_of(definition, one.type)
            yield Embedded(one.number, inner, _sorted(_members(inner, minor, names)))


def _member(definition: str, name: str, one: WireField) -> Member:
    is_always_written = one.label == "optional" and not one.is_pointer
    if one.label == MAP:
        _, _, value_type = one.type.removeprefix("map<").removesuffix(">").partition(",")
        return Member(one.number, name, one.label, _shape(definition, value_type))
    return Member(one.number, name, one.label, _shape(definition, one.type), is_always_written)


def _shape(definition: str, wire_type: str) -> WireShape:
    name = wire_type.rpartition(".")[2]
    if name in SCALARS or name in _SPECIAL:
        return WireShape(name)
    if name in _OF_SCHEMAS:
        return WireShape(name, wire.definition_of(definition, _SCHEMA))
    return WireShape("", wire.definition_of(definition, wire_type))


def _sorted(members: Iterator[Member | Embedded]) -> Sequence[Member | Embedded]:
    return sorted(members, key=lambda member: member.number)
