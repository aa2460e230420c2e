"""Conditions of objects (meta/v1): what is wrong with them. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import Format

_STATUSES = ("False", "True", "Unknown")
_LONGEST_REASON = 1024
_LONGEST_MESSAGE = 32 * 1024
_REASON = Format(
    "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?",
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
    "characters or '_,:', and must end with an alphanumeric character or '_'",
    ("my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"),
)


def validate(conditions: Sequence[Mapping[str, Any]], path: str) -> list[FieldError]:
    """All of them: each type is there once."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        kind = condition.get("type") or ""
        if kind in seen:
            errors.append(field.duplicate(f"{path}[{index}].type", kind))
        seen.add(kind)
        errors += _validate(condition, f"{path}[{index}]")
    return errors


def _validate(condition: Mapping[str, Any], path: str) -> list[FieldError]:
    kind, status = condition.get("type") or "", condition.get("status") or ""
    errors = field.invalid_each(f"{path}.type", kind, names.check_qualified_name(kind))
    if status not in _STATUSES:
        errors.append(field.not_supported(f"{path}.status", status, _STATUSES))
    generation = condition.get("observedGeneration") or 0
    if generation < 0:
        why = "must be greater than or equal to zero"
        errors.append(field.invalid(f"{path}.observedGeneration", generation, why))
    if not condition.get("lastTransitionTime"):
        errors.append(field.required(f"{path}.lastTransitionTime"))
    errors += _validate_reason(condition.get("reason") or "", f"{path}.reason")
    if len((condition.get("message") or "").encode()) > _LONGEST_MESSAGE:
        errors.append(field.too_long(f"{path}.message", _LONGEST_MESSAGE))
    return errors


def _validate_reason(reason: str, path: str) -> list[FieldError]:
    if not reason:
        return [field.required(path)]
    errors = field.invalid_each(path, reason, _REASON.check(reason))
    return [*errors, field.too_long(path, _LONGEST_REASON)] if len(reason.encode()) > _LONGEST_REASON else errors
