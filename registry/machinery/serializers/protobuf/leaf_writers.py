"""Leaf writers: encode protobuf values without fields of their own, as octets: texts, numbers, times, JSON.

Pure. Generated code calls them by their names here. Must hold: the result is the content of a field, without its tag
and length. Texts in the values are octets.
"""

import base64
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

import orjson

from aio_apiserver.registry.machinery.serializers.protobuf.octets import VARINTS, delimited, of_bytes

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_MICRO = 1000
_DOUBLE = struct.Struct("<d")

Write = Callable[[Any], str]


@lru_cache(maxsize=4096)
def time(value: str) -> str:
    """A time; cached, because many objects have the same times."""
    when = datetime.fromisoformat(value)
    return f"\x08{VARINTS[(when - _EPOCH) // _SECOND]}\x10{VARINTS[when.microsecond * _MICRO]}"


def first(value: str) -> str:
    """A message of one text: a quantity."""
    return f"\n{VARINTS[len(value)]}{value}"


def int_or_string(value: int | str) -> str:
    if isinstance(value, str):
        return f"\x08\x01\x10\0\x1a{delimited(value)}"
    return f"\x08\0\x10{VARINTS[value]}\x1a\0"


def raw(value: Any) -> str:
    """Any JSON value. orjson encodes its octets as UTF-8, and decoding them gives the octets again."""
    return first(orjson.dumps(value).decode())


def items(value: Sequence[str]) -> str:
    return "".join(map(first, value))


def blob(value: str) -> str:
    """The bytes of a Base64 text."""
    return of_bytes(base64.b64decode(value))


def double(value: float) -> str:
    return of_bytes(_DOUBLE.pack(value))


def or_bool(value: Any, schema: Write) -> str:
    """A schema, or a bool that allows everything or nothing."""
    if isinstance(value, bool):
        return f"\x08{VARINTS[value]}"
    return f"\x08\x01\x12{delimited(schema(value))}"


def or_array(value: Any, schema: Write) -> str:
    """A schema, or several."""
    return _or_list(value, schema, schema)


def or_string_array(value: Any, schema: Write) -> str:
    """A schema, or names."""
    return _or_list(value, schema, str)


def _or_list(value: Any, schema: Write, element: Write) -> str:
    if isinstance(value, list):
        return "".join(f"\x12{delimited(element(one))}" for one in value)
    return f"\n{delimited(schema(value))}"


WRITERS: Mapping[str, str] = {
    "bytes": "blob({0})",
    "Time": "time({0})",
    "MicroTime": "time({0})",
    "Quantity": "first({0})",
    "IntOrString": "int_or_string({0})",
    "RawExtension": "raw({0})",
    "JSON": "raw({0})",
    "FieldsV1": "raw({0})",
    "ExtraValue": "items({0})",
    "Verbs": "items({0})",
    "JSONSchemaPropsOrBool": "or_bool({0}, {1})",
    "JSONSchemaPropsOrArray": "or_array({0}, {1})",
    "JSONSchemaPropsOrStringArray": "or_string_array({0}, {1})",
}
"""Expressions in generated code for the content of a shape, from the value ({0}) and the writer of the schema ({1})."""

ZEROS: Mapping[str, str] = {"Quantity": first("0"), "IntOrString": int_or_string(0)}
"""The content of a missing value that is no pointer in Go, where it is not empty."""

NEVER_WRITTEN_EMPTY = frozenset({"bytes", "ExtraValue", "Verbs"})
"""Shapes that are left out when they have no value."""

USED = {
    function.__name__: function
    for function in (time, first, int_or_string, raw, items, blob, double, or_bool, or_array, or_string_array)
}
"""The functions, for generated code."""
