"""Scalars: readers of scalar JSON values: check the type and return the canonical form.

Pure. A reader does not know the path. It raises TypeMismatch for JSON of another type, and DecodeError for text that
does not parse. decode.py and convert.py treat a mismatch differently.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from aio_apiserver.registry.base.golang import json_numbers, quantity
from aio_apiserver.registry.base.golang.decode_errors import TypeMismatch
from aio_apiserver.registry.machinery.schema import binary, go_names, times
from aio_apiserver.registry.machinery.schema.model import SchemaKind, SchemaNode

Reader = Callable[[Any], Any]

_SHORT = 64
"""Clients choose the texts, so those that are kept are short."""
_INT32 = (-(2**31), 2**31 - 1)
_INT64 = (-(2**63), 2**63 - 1)

_JSON_TYPES = {str: "string", bool: "bool", list: "array", dict: "object"}


def json_type(value: Any) -> str:
    """The name of a JSON type in Go's messages."""
    return (
        "number"
        if isinstance(value, int | float) and not isinstance(value, bool)
        else _JSON_TYPES.get(type(value), "object")
    )


def integer_range(node: SchemaNode) -> tuple[int, int]:
    return _INT32 if node.format == "int32" else _INT64


def reader(node: SchemaNode) -> Reader:
    """The reader of a scalar node."""
    return _READERS[node.kind](node)


def _string(node: SchemaNode) -> Reader:
    return _of_type(str, node.go_type)


def _boolean(node: SchemaNode) -> Reader:
    return _of_type(bool, node.go_type)


def _of_type(wanted: type, go_type: str) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is wanted:
            return value
        raise TypeMismatch(json_type(value), go_type)

    return read


def _integer(node: SchemaNode) -> Reader:
    low, high = integer_range(node)
    go_type = node.go_type

    def read(value: Any) -> int:
        if type(value) is int and low <= value <= high:
            return value
        raise TypeMismatch(_found_number(value), go_type)

    return read


def _found_number(value: Any) -> str:
    found = json_type(value)
    return f"number {json_numbers.text(value)}" if found == "number" else found


def _number(node: SchemaNode) -> Reader:
    def read(value: Any) -> int | float:
        if json_type(value) == "number" and json_numbers.fits_float64(value):
            return json_numbers.plain(value)
        raise TypeMismatch(_found_number(value), node.go_type)

    return read


def _bytes(node: SchemaNode) -> Reader:
    def read(value: Any) -> str:
        if type(value) is str:
            return binary.canonical(value)
        if type(value) is list:
            return binary.encoded(bytes(map(_byte, value)))
        raise TypeMismatch(json_type(value), node.go_type)

    return read


def _byte(value: Any) -> int:
    if value is None:
        return 0
    if type(value) is int and 0 <= value <= 255:
        return value
    raise TypeMismatch(_found_number(value), "uint8")


def _time(_: SchemaNode) -> Reader:
    return _text(times.time)


def _micro_time(_: SchemaNode) -> Reader:
    return _text(times.micro_time)


def _text(parse: Callable[[str], str | None]) -> Reader:
    def read(value: Any) -> str | None:
        if type(value) is str:
            return parse(value)
        raise TypeMismatch(json_type(value), "string")

    return read


def _int_or_string(_: SchemaNode) -> Reader:
    low, high = _INT32

    def read(value: Any) -> int | str:
        if type(value) is str or (type(value) is int and low <= value <= high):
            return value
        raise TypeMismatch(_found_number(value), "int32")

    return read


def _quantity(_: SchemaNode) -> Reader:
    return lambda value: quantity.canonical(_quantity_text(value))


def resource_quantity(value: Any) -> str:
    """A quantity in a v1.ResourceList, rounded up to a milli. Objects repeat the same few texts."""
    return _known_amount(value) if type(value) is str and len(value) <= _SHORT else _amount(value)


@lru_cache(maxsize=4096)
def _known_amount(text: str) -> str:
    return _amount(text)


def _amount(value: Any) -> str:
    return quantity.rounded_up(_quantity_text(value), quantity.MILLI)


def _quantity_text(value: Any) -> str:
    if type(value) is str:
        return value.strip()
    return json_numbers.text(value) if json_type(value) == "number" else json_type(value)


def is_resource_list(node: SchemaNode) -> bool:
    return node.go_type == go_names.RESOURCE_LIST


_READERS: Mapping[SchemaKind, Callable[[SchemaNode], Reader]] = {
    SchemaKind.STRING: _string,
    SchemaKind.BOOLEAN: _boolean,
    SchemaKind.INTEGER: _integer,
    SchemaKind.NUMBER: _number,
    SchemaKind.BYTES: _bytes,
    SchemaKind.TIME: _time,
    SchemaKind.MICRO_TIME: _micro_time,
    SchemaKind.INT_OR_STRING: _int_or_string,
    SchemaKind.QUANTITY: _quantity,
}

ZEROS: Mapping[SchemaKind, Any] = {
    SchemaKind.STRING: "",
    SchemaKind.BOOLEAN: False,
    SchemaKind.INTEGER: 0,
    SchemaKind.NUMBER: 0,
    SchemaKind.QUANTITY: "0",
    SchemaKind.INT_OR_STRING: 0,
}
"""The zero values of scalars. Other kinds have none and print null."""
