"""The CEL expressions of webhooks and policies: every one of them passes here on its way into storage. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from registry.validation import field, names
from registry.validation.field import FieldError

_MOST_CONDITIONS = 64


def validate(expression: str, path: str, *, missing: str = "") -> list[FieldError]:
    """The rules of an expression; `missing` is what is said when there is none."""
    return [] if expression.strip() else [field.required(path, missing)]


def validate_conditions(conditions: Sequence[Mapping[str, Any]], path: str) -> list[FieldError]:
    """Conditions under which a webhook or policy is called at all."""
    errors, count = [], len(conditions)
    if count > _MOST_CONDITIONS:
        errors.append(field.too_many(path, count, _MOST_CONDITIONS))
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        name = condition.get("name") or ""
        errors += validate(condition.get("expression") or "", f"{path}[{index}].expression")
        errors += _validate_name(name, f"{path}[{index}].name")
        if name in seen:
            errors.append(field.duplicate(f"{path}[{index}].name", name))
        seen |= {name} - {""}
    return errors


def _validate_name(name: str, path: str) -> list[FieldError]:
    if not name:
        return [field.required(path)]
    return [field.invalid(path, name, message) for message in names.check_qualified_name(name)]
