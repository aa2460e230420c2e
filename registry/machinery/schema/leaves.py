"""Readers of leaves: JSON values of the scalar kinds, checked and put into the one form in which they are kept.

Pure. A reader knows the type and not the place: it raises TypeMismatch for JSON of the wrong type, DecodeError for
text that does not parse. Shared by decode.py and convert.py, which differ in what they make of a mismatch.
"""

from collections.abc import Callable, Mapping
from typing import Any

from aio_apiserver.registry.base.golang import json_numbers, quantity
from aio_apiserver.registry.base.golang.decode_errors import TypeMismatch
from aio_apiserver.registry.machinery.schema import binary, go_names, times
from aio_apiserver.registry.machinery.schema.model import Kind, Node

Reader = Callable[[Any], Any]

_INT32 = (-(2**31), 2**31 - 1)
_INT64 = (-(2**63), 2**63 - 1)

_JSON_TYPES = {str: "string", bool: "bool", list: "array", dict: "object"}


def json_type(value: Any) -> str:
    """What Go calls the type of a decoded JSON value."""
    return (
        "number"
        if isinstance(value, int | float) and not isinstance(value, bool)
        else _JSON_TYPES.get(type(value), "object")
    )


def integer_range(node: Node) -> tuple[int, int]:
    return _INT32 if node.format == "int32" else _INT64


def reader(node: Node) -> Reader:
    """The reader of a node of a scalar kind."""
    return _READERS[node.kind](node)


def _string(node: Node) -> Reader:
    return _of_type(str, node.go_type)


def _boolean(node: Node) -> Reader:
    return _of_type(bool, node.go_type)


def _of_type(wanted: type, go_type: str) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is wanted:
            return value
        raise TypeMismatch(json_type(value), go_type)

    return read


def _integer(node: Node) -> Reader:
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


def _number(node: Node) -> Reader:
    def read(value: Any) -> int | float:
        if json_type(value) == "number" and json_numbers.fits_float64(value):
            return json_numbers.plain(value)
        raise TypeMismatch(_found_number(value), node.go_type)

    return read


def _bytes(node: Node) -> Reader:
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


def _time(_: Node) -> Reader:
    return _text(times.time)


def _micro_time(_: Node) -> Reader:
    return _text(times.micro_time)


def _text(parse: Callable[[str], str | None]) -> Reader:
    def read(value: Any) -> str | None:
        if type(value) is str:
            return parse(value)
        raise TypeMismatch(json_type(value), "string")

    return read


def _int_or_string(_: Node) -> Reader:
    low, high = _INT32

    def read(value: Any) -> int | str:
        if type(value) is str or (type(value) is int and low <= value <= high):
            return value
        raise TypeMismatch(_found_number(value), "int32")

    return read


def _quantity(_: Node) -> Reader:
    return lambda value: quantity.canonical(_quantity_text(value))


def resource_quantity(value: Any) -> str:
    """A quantity in a v1.ResourceList: nothing is finer than a milli."""
    return quantity.rounded_up(_quantity_text(value), quantity.MILLI)


def _quantity_text(value: Any) -> str:
    if type(value) is str:
        return value.strip()
    return json_numbers.text(value) if json_type(value) == "number" else json_type(value)


def is_resource_list(node: Node) -> bool:
    return node.go_type == go_names.RESOURCE_LIST


_READERS: Mapping[Kind, Callable[[Node], Reader]] = {
    Kind.STRING: _string,
    Kind.BOOLEAN: _boolean,
    Kind.INTEGER: _integer,
    Kind.NUMBER: _number,
    Kind.BYTES: _bytes,
    Kind.TIME: _time,
    Kind.MICRO_TIME: _micro_time,
    Kind.INT_OR_STRING: _int_or_string,
    Kind.QUANTITY: _quantity,
}

ZEROS: Mapping[Kind, Any] = {
    Kind.STRING: "",
    Kind.BOOLEAN: False,
    Kind.INTEGER: 0,
    Kind.NUMBER: 0,
    Kind.QUANTITY: "0",
    Kind.INT_OR_STRING: 0,
}
"""What a leaf is without a value. The kinds that are not here have none then: they print null."""
