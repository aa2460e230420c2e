"""What /scale needs of an object: whole numbers of replicas, and a selector that is text. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.golang import text as gotext
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.machinery.schema.leaves import json_type
from aio_apiserver.storage.stored_object import Object

_MOST = 2**31 - 1


class WrongType(Exception):
    """What stands at a path is not what should be there."""


def at(obj: Object, path: str) -> Any:
    """The value at a path that begins with a dot; None when there is none. Raises WrongType."""
    value: Any = obj
    names = path.removeprefix(".").split(".")
    for depth, name in enumerate(names):
        if value is None:
            return None
        if not isinstance(value, dict):
            shown = ".".join(["", *names[: depth + 1]])
            kind = _GO_TYPES[type(value)]
            text = f"{gotext.value_text(value)} is of the type {kind}, expected map[string]interface{{}}"
            raise WrongType(f"{shown} accessor error: {text}")
        value = value.get(name)
        if value is None:
            return None
    return value


def number_at(obj: Object, path: str) -> int | None:
    """The whole number at a path. Raises WrongType."""
    value = at(obj, path)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise _wrong(path, value, "int64")


def text_at(obj: Object, path: str) -> str:
    """The text at a path, empty when there is none. Raises WrongType."""
    value = at(obj, path)
    if value is None or isinstance(value, str):
        return value or ""
    raise _wrong(path, value, "string")


_GO_TYPES: Mapping[type, str] = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}


def _wrong(path: str, value: Any, wanted: str) -> WrongType:
    found = _GO_TYPES.get(type(value), json_type(value))
    text = f"{gotext.value_text(value)} is of the type {found}, expected {wanted}"
    return WrongType(f".{path.removeprefix('.')} accessor error: {text}")


def validate_spec(obj: Object, scale: Mapping[str, Any] | None) -> list[FieldError]:
    """What is wrong with the replicas that an object wants."""
    return _validate_number(obj, scale["specReplicasPath"]) if scale else []


def validate_status(obj: Object, scale: Mapping[str, Any] | None) -> list[FieldError]:
    """What is wrong with the replicas that an object has, and with its selector."""
    if not scale:
        return []
    found = _validate_number(obj, scale["statusReplicasPath"])
    path = scale.get("labelSelectorPath")
    if path:
        try:
            text_at(obj, path)
        except WrongType as exc:
            found.append(field.invalid(path, "", str(exc)))
    return found


def _validate_number(obj: Object, path: str) -> list[FieldError]:
    try:
        number = number_at(obj, path) or 0
    except WrongType as exc:
        return [field.invalid(path, 0, str(exc))]
    if number < 0:
        return [field.invalid(path, number, "should be a non-negative integer")]
    if number > _MOST:
        return [field.invalid(path, number, f"should be less than or equal to {_MOST}")]
    return []
