"""Convert: decodes a patched object as Kubernetes' unstructured converter (FromUnstructured) does, with its messages.

Strategic merge patches use it. It differs from JSON decoding: fields are visited in Go's order, and the first error
ends it. Whole floats are valid integers, and integers are truncated to their size. Unknown fields are sorted by their
messages.

Must hold: the result has the form that decode.py describes.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.golang import json_numbers
from aio_apiserver.registry.base.golang.decode_errors import DecodeError, TypeMismatch
from aio_apiserver.registry.machinery.schema import field_paths, ordering, scalars
from aio_apiserver.registry.machinery.schema.decode import CONTAINERS, Findings, keeps_zero, zero
from aio_apiserver.registry.machinery.schema.field_paths import Where
from aio_apiserver.registry.machinery.schema.model import SchemaKind, SchemaNode, Structure

_GO_KINDS = {str: "string", bool: "bool", int: "int64", float: "float64", list: "slice", dict: "map"}
_INT64 = range(-(2**63), 2**63)
_INTEGER_BITS = {"int32": 32, "int64": 64}


def converted(node: SchemaNode, value: Any, found: Findings) -> Any:
    """The object; strict errors are collected in no particular order. Raises DecodeError."""
    return _value(node, value, None, found)


def _value(node: SchemaNode, value: Any, where: Where, found: Findings) -> Any:
    if node.structure is not None:
        return _object(node.structure, value, where, found)
    check = _SIMPLE.get(node.kind)
    if check is not None:
        return check(node, value)
    match node.kind:
        case SchemaKind.LIST:
            return _list(node, value, where, found)
        case SchemaKind.MAP:
            return _map(node, value, where, found)
        case SchemaKind.ONE_OF:
            return _one_of(node, value, where)
        case SchemaKind.ANY:
            return value
        case SchemaKind.JSON:
            return ordering.as_printed(value)
        case _:
            return _leaf(node, value)


def _object(structure: Structure, value: Any, where: Where, found: Findings) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DecodeError(f"cannot restore struct from: {_go_kind(value)}")
    field_paths.check_depth(where)
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
        f'unknown field "{field_paths.path((where, name))}"' for name in value if name not in structure.fields
    ]
    return result


def _list(node: SchemaNode, value: Any, where: Where, found: Findings) -> list[Any]:
    if not isinstance(value, list):
        raise DecodeError(f"cannot restore slice from {_go_kind(value)}")
    assert node.items is not None
    items = node.items
    return [
        zero(items) if item is None else _value(items, item, (where, index), found) for index, item in enumerate(value)
    ]


def _map(node: SchemaNode, value: Any, where: Where, found: Findings) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DecodeError(f"cannot restore map from {_go_kind(value)}")
    assert node.items is not None
    items = node.items
    result = {
        key: zero(items) if item is None else _value(items, item, (where, key), found) for key, item in value.items()
    }
    if scalars.is_resource_list(node):
        return {key: scalars.resource_quantity(item) for key, item in result.items()}
    return result


def _one_of(node: SchemaNode, value: Any, where: Where) -> Any:
    """The type's own JSON decoder reads it, so unknown fields in it are not reported."""
    for alternative in node.alternatives:
        wanted = {SchemaKind.OBJECT: dict, SchemaKind.LIST: list, SchemaKind.BOOLEAN: bool}[alternative.kind]
        if isinstance(value, wanted):
            return _value(alternative, value, where, Findings())
    if any(alternative.kind is SchemaKind.BOOLEAN for alternative in node.alternatives):
        raise DecodeError("boolean or JSON schema expected")
    return None


def _leaf(node: SchemaNode, value: Any) -> Any:
    if node.kind is SchemaKind.BYTES and not isinstance(value, str | list):
        raise DecodeError(f"cannot restore slice from {_go_kind(value)}")
    if node.kind is SchemaKind.BYTES and isinstance(value, list):
        value = list(map(_byte, value))
    try:
        return scalars.reader(node)(value)
    except TypeMismatch as mismatch:
        raise DecodeError(field_paths.mismatch(None, mismatch.found, mismatch.go_type)) from mismatch
    except DecodeError as exc:
        if node.kind is SchemaKind.BYTES:
            raise DecodeError(f"error decoding from json: {exc.message}") from exc
        raise


def _string(node: SchemaNode, value: Any) -> str:
    if isinstance(value, str):
        return value
    if type(value) is int and not _is_too_large(value):
        raise DecodeError(f"cannot convert int64 to {node.go_type}")
    raise _unrecognized("string")


def _boolean(_: SchemaNode, value: Any) -> bool:
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


def _integer(node: SchemaNode, value: Any) -> int:
    whole = _whole(value, node.go_type)
    half = 1 << (_INTEGER_BITS[node.go_type] - 1)
    return (whole + half) % (2 * half) - half


def _number(node: SchemaNode, value: Any) -> int | float:
    if scalars.json_type(value) == "number":
        return json_numbers.plain(value)
    raise _unrecognized(node.go_type)


def _unrecognized(go_kind: str) -> DecodeError:
    return DecodeError(f"unrecognized type: {go_kind}")


def _go_kind(value: Any) -> str:
    return "float64" if _is_too_large(value) else _GO_KINDS.get(type(value), "struct")


def _is_too_large(value: Any) -> bool:
    """Whether a whole number is a float in Go."""
    return type(value) is int and value not in _INT64


_SIMPLE: Mapping[SchemaKind, Any] = {
    SchemaKind.STRING: _string,
    SchemaKind.BOOLEAN: _boolean,
    SchemaKind.INTEGER: _integer,
    SchemaKind.NUMBER: _number,
}
