"""Device taints: validates taints of devices, and tolerations of requests. Pure."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError

_EFFECTS = ("NoExecute", "NoSchedule", "None")
_OPERATORS = ("Equal", "Exists")


def validate_taint(taint: Mapping[str, Any], path: str) -> list[FieldError]:
    """The errors of a taint."""
    errors = validate_key(taint.get("key") or "", f"{path}.key")
    if taint.get("value"):
        errors += _validate_value(taint["value"], f"{path}.value")
    effect = taint.get("effect") or ""
    if not effect:
        return [*errors, field.required(f"{path}.effect")]
    return errors + _validate_effect(effect, path)


def validate_toleration(toleration: Mapping[str, Any], path: str) -> list[FieldError]:
    """The errors of a toleration."""
    key, operator = toleration.get("key") or "", toleration.get("operator") or ""
    value, effect = toleration.get("value") or "", toleration.get("effect") or ""
    errors = validate_key(key, f"{path}.key") if key else []
    if operator == "Exists":
        if value:
            errors.append(field.invalid(f"{path}.value", value, "must be empty for operator `Exists`"))
    elif operator == "Equal":
        errors += _validate_value(value, f"{path}.value")
    elif operator:
        errors.append(field.not_supported(f"{path}.operator", operator, _OPERATORS))
    else:
        errors.append(field.required(f"{path}.operator"))
    return errors + (_validate_effect(effect, path) if effect else [])


def validate_key(key: str, path: str) -> list[FieldError]:
    """The errors of a taint key, which is a qualified name."""
    return field.invalid_each(path, key, names.check_qualified_name(key))


def _validate_value(value: str, path: str) -> list[FieldError]:
    return field.invalid_each(path, value, names.check_label_value(value))


def _validate_effect(effect: str, path: str) -> list[FieldError]:
    return [] if effect in _EFFECTS else [field.not_supported(f"{path}.effect", effect, _EFFECTS)]
