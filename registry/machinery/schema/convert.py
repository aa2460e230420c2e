"""Conversion: a patched object into its type, in the way and the words of Kubernetes' unstructured converter.

Strategic merge patches end here. It differs from decoding JSON: fields are visited in Go's order and the first error
ends it; whole floats pass for integers and integers are cut to their size; unknown fields come sorted by their message.

Must hold: what is converted is in the form that decode.py promises.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.golang import json_numbers
from aio_apiserver.registry.base.golang.decode_errors import DecodeError, TypeMismatch
from aio_apiserver.registry.machinery.schema import leaves, ordering, places
from aio_apiserver.registry.machinery.schema.decode import CONTAINERS, Findings, keeps_zero, zero
from aio_apiserver.registry.machinery.schema.model import Kind, Node, Structure
from aio_apiserver.registry.machinery.schema.places import Where

_GO_KINDS = {str: "string", bool: "bool", int: "int64", float: "float64", list: "slice", dict: "map"}
_INTEGER_BITS = {"int32": 32, "int64": 64}


def converted(node: Node, value: Any, found: Findings) -> Any:
    """The object; what strict decoders say of it is noted, in no order. Raises DecodeError."""
    return _value(node, value, None, found)


def _value(node: Node, value: Any, where: Where, found: Findings) -> Any:
    if node.structure is not None:
        return _object(node.structure, value, where, found)
    match node.kind:
        case Kind.LIST:
            return _list(node, value, where, found)
        case Kind.MAP:
            return _map(node, value, where, found)
        case Kind.ONE_OF:
            return _one_of(node, value, where)
        case Kind.ANY:
            return value
        case Kind.JSON:
            return ordering.as_printed(value)
        case _:
            return _leaf(node, value)


def _object(structure: Structure, value: Any, where: Where, found: Findings) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DecodeError(f"cannot restore struct from: {_go_kind(value)}")
    places.check_depth(where)
    result = {}
    for name, field in structure.fields.items():
        item = value.get(name)
        if item is None:
            continue
        item = _value(field.node, item, (where, field), found)
        if item or (keeps_zero(field) and item is not None):
            result[name] = item
        if not item and item is not None and field.node.kind in CONTAINERS:
            found.empties.append((where, field))
    found.strict_errors += [
        f'unknown field "{places.path((where, name))}"' for name in value if name not in structure.fields
    ]
    return result


def _list(node: Node, value: Any, where: Where, found: Findings) -> list[Any]:
    if not isinstance(value, list):
        raise DecodeError(f"cannot restore slice from {_go_kind(value)}")
    assert node.items is not None
    items = node.items
    return [
        zero(items) if item is None else _value(items, item, (where, index), found) for index, item in enumerate(value)
    ]


def _map(node: Node, value: Any, where: Where, found: Findings) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DecodeError(f"cannot restore map from {_go_kind(value)}")
    assert node.items is not None
    items = node.items
    result = {
        key: zero(items) if item is None else _value(items, item, (where, key), found) for key, item in value.items()
    }
    if leaves.is_resource_list(node):
        return {key: leaves.resource_quantity(item) for key, item in result.items()}
    return result


def _one_of(node: Node, value: Any, where: Where) -> Any:
    """The type's own decoder reads it: unknown fields within are not reported."""
    for alternative in node.alternatives:
        wanted = {Kind.OBJECT: dict, Kind.LIST: list, Kind.BOOLEAN: bool}[alternative.kind]
        if isinstance(value, wanted):
            return _value(alternative, value, where, Findings())
    if any(alternative.kind is Kind.BOOLEAN for alternative in node.alternatives):
        raise DecodeError("boolean or JSON schema expected")
    return None


def _leaf(node: Node, value: Any) -> Any:
    check = _SIMPLE.get(node.kind)
    if check is not None:
        return check(node, value)
    if node.kind is Kind.BYTES and not isinstance(value, str | list):
        raise DecodeError(f"cannot restore slice from {_go_kind(value)}")
    if node.kind is Kind.BYTES and isinstance(value, list):
        value = list(map(_byte, value))
    try:
        return leaves.reader(node)(value)
    except TypeMismatch as mismatch:
        raise DecodeError(places.mismatch(None, mismatch.found, mismatch.go_type)) from mismatch
    except DecodeError as exc:
        if node.kind is Kind.BYTES:
            raise DecodeError(f"error decoding from json: {exc.message}") from exc
        raise


def _string(node: Node, value: Any) -> str:
    if isinstance(value, str):
        return value
    if type(value) is int:
        raise DecodeError(f"cannot convert int64 to {node.go_type}")
    raise _unrecognized("string")


def _boolean(_: Node, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise _unrecognized("bool")


def _byte(value: Any) -> int:
    return 0 if value is None else _whole(value, "uint8") % 256


def _whole(value: Any, go_type: str) -> int:
    if isinstance(value, float):
        if not value.is_integer():
            raise DecodeError(f"cannot convert float64 to {go_type}")
        value = int(value)
    if type(value) is not int:
        raise _unrecognized(go_type)
    return value


def _integer(node: Node, value: Any) -> int:
    whole = _whole(value, node.go_type)
    half = 1 << (_INTEGER_BITS[node.go_type] - 1)
    return (whole + half) % (2 * half) - half


def _number(node: Node, value: Any) -> int | float:
    if leaves.json_type(value) == "number":
        return json_numbers.plain(value)
    raise _unrecognized(node.go_type)


def _unrecognized(go_kind: str) -> DecodeError:
    return DecodeError(f"unrecognized type: {go_kind}")


def _go_kind(value: Any) -> str:
    return _GO_KINDS.get(type(value), "struct")


_SIMPLE: Mapping[Kind, Any] = {
    Kind.STRING: _string,
    Kind.BOOLEAN: _boolean,
    Kind.INTEGER: _integer,
    Kind.NUMBER: _number,
}
