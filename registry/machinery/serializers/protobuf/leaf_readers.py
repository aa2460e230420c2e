"""Leaf readers: decode protobuf values without fields of their own: texts, numbers, times, quantities, JSON.

Pure. Generated code calls them by their names here, with the content of a field. Must hold: the result is the value in
kube-apiserver's JSON; a zero time is null. Wrong bytes raise Malformed or UnicodeDecodeError.
"""

import base64
import math
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar

import orjson

from aio_apiserver.registry.base.golang import json_numbers
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import Malformed, read_fields, signed

T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = 1000
_LONG = 128
"""From here on a length takes two bytes."""
_TEXT_TAG, _VALUE_TAG = b"\n\x12"
_DOUBLE = struct.Struct("<d")

Read = Callable[[bytes], Any]

text = bytes.decode


_SECONDS = "%Y-%m-%dT%H:%M:%S"
_TIME_LENGTH, _MICRO_TIME_LENGTH = len("2006-01-02T15:04:05Z"), len("2006-01-02T15:04:05.000000Z")
"""On some systems %Y has no leading zeros, and a year before 1000 is shorter than it has to be."""


def blob(content: bytes) -> str:
    """Bytes, which are Base64 in JSON."""
    return base64.b64encode(content).decode()


def double(content: bytes) -> int | float:
    value: float = _DOUBLE.unpack(content)[0] if len(content) == _DOUBLE.size else math.nan
    if not math.isfinite(value):
        raise Malformed("proto: no number that JSON has")
    return json_numbers.plain(value)


def time(content: bytes) -> str | None:
    """A time; cached, because many objects have the same times. A long one has fields that do not count."""
    return _short_time(content) if len(content) < _LONG else _time(content)


def _time(content: bytes) -> str | None:
    when = _moment(content)
    return f"{when:{_SECONDS}}Z".zfill(_TIME_LENGTH) if when else None


_short_time = lru_cache(maxsize=4096)(_time)


def micro_time(content: bytes) -> str | None:
    when = _moment(content)
    return f"{when:{_SECONDS}.%f}Z".zfill(_MICRO_TIME_LENGTH) if when else None


def first(content: bytes) -> str:
    """The text of a message with a single text: a quantity."""
    if 1 < len(content) < _LONG and content[0] == _TEXT_TAG and content[1] == len(content) - 2:
        return text(content[2:])
    return text(_part(content, 1))


def int_or_string(content: bytes) -> int | str:
    if _number(content, 1):
        return text(_part(content, 3))
    return signed(_number(content, 2))


def raw(content: bytes) -> Any:
    """Any JSON value."""
    found = _part(content, 1)
    try:
        return orjson.loads(found) if found else None
    except orjson.JSONDecodeError as exc:
        raise Malformed(f"raw JSON: {exc}") from exc


def items(content: bytes) -> list[str]:
    return [text(part) for number, _, part in read_fields(content) if number == 1]


def entry(content: bytes, of_content: Callable[[bytes], T]) -> tuple[str, T]:
    """An entry of a map: a message of a key (1) and a value (2), which are mostly short and in this order."""
    if 1 < len(content) < _LONG and content[0] == _TEXT_TAG:
        middle = content[1] + 2
        if content[middle : middle + 2] == bytes((_VALUE_TAG, len(content) - middle - 2 & 0x7F)):
            return content[2:middle].decode(errors="replace"), of_content(content[middle + 2 :])
    key, value = "", of_content(b"")
    for number, _, part in read_fields(content):
        if number == 1:
            key = part.decode(errors="replace")
        elif number == 2:
            value = of_content(part)
    return key, value


def or_bool(content: bytes, schema: Read) -> Any:
    """A schema, or a bool that allows everything or nothing."""
    allows: Any = False
    for number, integer, part in read_fields(content):
        if number == 1:
            allows = bool(integer)
        elif number == 2:
            return schema(part)
    return allows


def or_array(content: bytes, schema: Read) -> Any:
    """A schema, or several."""
    return _or_list(content, schema, schema)


def or_string_array(content: bytes, schema: Read) -> Any:
    """A schema, or names."""
    return _or_list(content, schema, text)


def _or_list(content: bytes, schema: Read, element: Read) -> Any:
    elements = []
    for number, _, part in read_fields(content):
        if number == 1:
            return schema(part)
        if number == 2:
            elements.append(element(part))
    return elements


def _moment(content: bytes) -> datetime | None:
    seconds, nanos = signed(_number(content, 1)), signed(_number(content, 2))
    if not seconds and not nanos:
        return None
    try:
        return _EPOCH + timedelta(seconds=seconds, microseconds=nanos // _MICRO)
    except OverflowError as exc:
        raise Malformed("proto: time out of range") from exc


def _number(content: bytes, wanted: int) -> int:
    """The number in a field; the last one counts."""
    return next((integer for number, integer, _ in reversed([*read_fields(content)]) if number == wanted), 0)


def _part(content: bytes, wanted: int) -> bytes:
    """The bytes in a field; the last ones count."""
    return next((part for number, _, part in reversed([*read_fields(content)]) if number == wanted), b"")


READERS: Mapping[str, str] = {
    "string": "text({0})",
    "bytes": "blob({0})",
    "double": "double({0})",
    "Time": "time({0})",
    "MicroTime": "micro_time({0})",
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
"""Expressions in generated code for the value of a shape, from the content ({0}) and the reader of the schema ({1})."""

USED = {"text": text} | {
    function.__name__: function
    for function in (
        *(blob, double, time, micro_time, first, int_or_string),
        *(raw, items, entry, or_bool, or_array, or_string_array),
    )
}
"""The functions, for generated code."""
