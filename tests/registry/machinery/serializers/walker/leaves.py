"""Leaves: the protobuf encoding of texts, numbers, times and other JSON values.

Pure. Must hold: reading gives what kube-apiserver's JSON would hold; a zero time is null.
"""

import base64
import math
import struct
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.registry.base.golang import json_numbers
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import (
    FIXED64,
    LENGTH,
    VARINT,
    Malformed,
    delimited,
    read_fields,
    signed,
    tag,
    varint,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = 1000
_DOUBLE = struct.Struct("<d")


class Leaf(Struct, frozen=True):
    """How one kind of value is read (from its number or its bytes) and written (without its tag).

    kind: of the wire. `zero` gives what stands there for no value where Go has no pointer; None where nothing does.
    """

    read: Callable[[int, bytes], Any]
    write: Callable[[Any], bytes]
    kind: int = LENGTH
    zero: Callable[[], bytes] | None = bytes


def _text(_integer: int, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as exc:
        raise Malformed("proto: string field contains invalid UTF-8") from exc


def _read_double(_integer: int, content: bytes) -> int | float:
    value: float = _DOUBLE.unpack(content)[0] if len(content) == _DOUBLE.size else math.nan
    if not math.isfinite(value):
        raise Malformed("proto: no number that JSON has")
    return json_numbers.plain(value)


def _write_double(value: float) -> bytes:
    return _DOUBLE.pack(value)


def _zero_number() -> bytes:
    return b"\0"


SCALARS: Mapping[str, Leaf] = {
    "string": Leaf(_text, str.encode),
    "bytes": Leaf(lambda _integer, content: base64.b64encode(content).decode(), base64.b64decode, zero=None),
    "bool": Leaf(lambda integer, _content: bool(integer), lambda value: varint(int(value)), VARINT, _zero_number),
    "int32": Leaf(lambda integer, _content: signed(integer), varint, VARINT, _zero_number),
    "double": Leaf(_read_double, _write_double, FIXED64),
    "int64": Leaf(lambda integer, _content: signed(integer), varint, VARINT, _zero_number),
}


def _members(content: bytes) -> dict[int, tuple[int, bytes]]:
    return {number: (integer, part) for number, integer, part in read_fields(content)}


def _read_time(_integer: int, content: bytes) -> str | None:
    when = _moment(content)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ") if when else None


def _read_micro_time(_integer: int, content: bytes) -> str | None:
    when = _moment(content)
    return when.strftime("%Y-%m-%dT%H:%M:%S.%fZ") if when else None


def _moment(content: bytes) -> datetime | None:
    members = _members(content)
    seconds, nanos = (signed(members.get(number, (0, b""))[0]) for number in (1, 2))
    if not seconds and not nanos:
        return None
    try:
        return _EPOCH + timedelta(seconds=seconds, microseconds=nanos // _MICRO)
    except OverflowError as exc:
        raise Malformed("proto: time out of range") from exc


def _write_time(value: str) -> bytes:
    when = datetime.fromisoformat(value)
    seconds = (when - _EPOCH) // timedelta(seconds=1)
    nanos = when.microsecond * _MICRO
    return tag(1, VARINT) + varint(seconds) + tag(2, VARINT) + varint(nanos)


def _read_first(_integer: int, content: bytes) -> str:
    return _text(0, _members(content).get(1, (0, b""))[1])


def _write_first(value: str) -> bytes:
    return tag(1, LENGTH) + delimited(value.encode())


def _read_int_or_string(_integer: int, content: bytes) -> int | str:
    members = _members(content)
    if members.get(1, (0, b""))[0]:
        return _text(0, members.get(3, (0, b""))[1])
    return signed(members.get(2, (0, b""))[0])


def _write_int_or_string(value: int | str) -> bytes:
    kind, number, text = (1, 0, value.encode()) if isinstance(value, str) else (0, value, b"")
    return tag(1, VARINT) + varint(kind) + tag(2, VARINT) + varint(number) + tag(3, LENGTH) + delimited(text)


def _read_json(_integer: int, content: bytes) -> Any:
    raw = _members(content).get(1, (0, b""))[1]
    try:
        return orjson.loads(raw) if raw else None
    except orjson.JSONDecodeError as exc:
        raise Malformed(f"raw JSON: {exc}") from exc


def _write_json(value: Any) -> bytes:
    return tag(1, LENGTH) + delimited(orjson.dumps(value))


def _read_items(_integer: int, content: bytes) -> list[str]:
    return [_text(0, part) for number, _, part in read_fields(content) if number == 1]


def _write_items(value: list[str]) -> bytes:
    return b"".join(tag(1, LENGTH) + delimited(one.encode()) for one in value)


_RAW = Leaf(_read_json, _write_json)
_ITEMS = Leaf(_read_items, _write_items, zero=None)

SPECIAL: Mapping[str, Leaf] = {
    "Time": Leaf(_read_time, _write_time),
    "MicroTime": Leaf(_read_micro_time, _write_time),
    "Quantity": Leaf(_read_first, _write_first, zero=lambda: _write_first("0")),
    "IntOrString": Leaf(_read_int_or_string, _write_int_or_string, zero=lambda: _write_int_or_string(0)),
    "RawExtension": _RAW,
    "JSON": _RAW,
    "FieldsV1": _RAW,
    "ExtraValue": _ITEMS,
    "Verbs": _ITEMS,
}
"""By the last word of the message's name."""
