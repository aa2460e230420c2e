"""Alternatives: the parts of a JSON schema that are a schema or something else.

In JSON they stand for themselves; on the wire each is a message with a field for either. Pure. Must hold: what has a
schema is a schema, as in Go.
"""

from typing import Any

from aio_apiserver.registry.machinery.serializers.protobuf.encoding import (
    LENGTH,
    VARINT,
    delimited,
    read_fields,
    tag,
    varint,
)
from tests.registry.machinery.serializers.walker.leaves import SCALARS, Leaf

OR_ARRAY, OR_BOOL, OR_STRING_ARRAY = "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"
NAMES = frozenset({OR_ARRAY, OR_BOOL, OR_STRING_ARRAY})


def leaf_of(name: str, schema: Leaf) -> Leaf:
    """The leaf of one of the three, from that of a schema."""
    if name == OR_BOOL:
        return _or_bool(schema)
    return _or_list(schema, schema if name == OR_ARRAY else SCALARS["string"])


def _or_list(schema: Leaf, element: Leaf) -> Leaf:
    def read(_integer: int, content: bytes) -> Any:
        elements = []
        for number, _, part in read_fields(content):
            if number == 1:
                return schema.read(0, part)
            if number == 2:
                elements.append(element.read(0, part))
        return elements

    def write(value: Any) -> bytes:
        if isinstance(value, list):
            return b"".join(tag(2, LENGTH) + delimited(element.write(one)) for one in value)
        return tag(1, LENGTH) + delimited(schema.write(value))

    return Leaf(read, write)


def _or_bool(schema: Leaf) -> Leaf:
    def read(_integer: int, content: bytes) -> Any:
        allows: Any = False
        for number, integer, part in read_fields(content):
            if number == 1:
                allows = bool(integer)
            elif number == 2:
                return schema.read(0, part)
        return allows

    def write(value: Any) -> bytes:
        if isinstance(value, bool):
            return tag(1, VARINT) + varint(value)
        return tag(1, VARINT) + varint(True) + tag(2, LENGTH) + delimited(schema.write(value))

    return Leaf(read, write)
