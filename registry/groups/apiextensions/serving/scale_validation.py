"""Scale validation: the values that /scale uses: replicas are integers, and the selector is a string. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang import text as gotext
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.machinery.schema.scalars import json_type

_MOST = 2**31 - 1


class WrongType(Exception):
    """The value at a path has the wrong type."""


def at(obj: Object, path: str) -> Any:
    """The value at a path that begins with a dot; None when it is missing. Raises WrongType."""
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
    """The integer at a path. Raises WrongType."""
    value = at(obj, path)
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise _wrong(path, value, "int64")


def text_at(obj: Object, path: str) -> str:
    """The string at a path; empty when it is missing. Raises WrongType."""
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
    """The error of the desired replicas."""
    return _validate_number(obj, scale["specReplicasPath"]) if scale else []


def validate_status(obj: Object, scale: Mapping[str, Any] | None) -> list[FieldError]:
    """The errors of the present replicas and of the selector."""
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
