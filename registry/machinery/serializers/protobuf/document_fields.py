"""document_fields: writes OpenAPI documents as protobuf messages, from tables of their fields.

A writer turns a value into the bytes of a field, without its tag. Pure; knows no document. Must hold: a key without a
field is written as an extension if the message has extensions, else left out.
"""

import struct
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from aio_apiserver.registry.machinery.serializers.protobuf.encoding import (
    FIXED64,
    LENGTH,
    VARINT,
    delimited,
    tag,
    varint,
)

Write = Callable[[Any], bytes]


class Field(NamedTuple):
    """The field for a key of an object. `kind` is the wire type; each value of a repeated field has its own tag."""

    number: int
    kind: int
    write: Write
    is_repeated: bool = False


def text(number: int) -> Field:
    return Field(number, LENGTH, str.encode)


def texts(number: int) -> Field:
    return Field(number, LENGTH, str.encode, True)


def flag(number: int) -> Field:
    return Field(number, VARINT, lambda value: varint(int(value)))


def integer(number: int) -> Field:
    return Field(number, VARINT, lambda value: varint(int(value)))


def double(number: int) -> Field:
    return Field(number, FIXED64, lambda value: struct.pack("<d", value))


def part(number: int, write: Write) -> Field:
    return Field(number, LENGTH, write)


def parts(number: int, write: Write) -> Field:
    return Field(number, LENGTH, write, True)


class Message:
    """A message by its fields. `extensions` is the number of the field for keys that begin with `x-`; 0 is none."""

    def __init__(self, extensions: int = 0) -> None:
        self._extensions = extensions
        self._fields: Mapping[str, Field] = {}

    def define(self, **fields: Field) -> None:
        """Set the fields. This is a step of its own, because messages contain themselves."""
        self._fields = fields

    def __call__(self, value: Mapping[str, Any]) -> bytes:
        """The bytes of a value."""
        return b"".join(self._field(name, one) for name, one in value.items())

    def _field(self, name: str, value: Any) -> bytes:
        field = self._fields.get(name.replace("$", "_"))
        if field is not None:
            values = value if field.is_repeated else (value,)
            return b"".join(_written(field, one) for one in values)
        if self._extensions and name.startswith("x-"):
            return tag(self._extensions, LENGTH) + delimited(_named(name, anything(value)))
        return b""


def within(number: int, write: Write) -> Write:
    """A message with a single field."""
    return lambda value: tag(number, LENGTH) + delimited(write(value))


def entries(number: int, write: Write) -> Write:
    """A message for a map: one repeated field of names and values."""
    return lambda value: b"".join(
        tag(number, LENGTH) + delimited(_named(name, write(one))) for name, one in value.items()
    )


def anything(value: Any) -> bytes:
    """A message for any value, as YAML text; JSON is a part of YAML."""
    return tag(2, LENGTH) + delimited(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))


def _named(name: str, written: bytes) -> bytes:
    return tag(1, LENGTH) + delimited(name.encode()) + tag(2, LENGTH) + delimited(written)


def _written(field: Field, value: Any) -> bytes:
    written = field.write(value)
    return tag(field.number, field.kind) + (delimited(written) if field.kind == LENGTH else written)
