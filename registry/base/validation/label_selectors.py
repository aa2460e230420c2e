"""Label selectors: validation and matching of metav1.LabelSelector (matchLabels, matchExpressions). Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import field, names, object_meta
from aio_apiserver.registry.base.validation.field import FieldError

_NO_VALUES = "must be specified when `operator` is 'In' or 'NotIn'"
_ANY_VALUES = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"


def is_empty(selector: Mapping[str, Any]) -> bool:
    """Whether the selector has no requirement."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def validate(selector: Mapping[str, Any], path: str, *, allows_invalid_values: bool = False) -> list[FieldError]:
    """The errors of a selector. An update may keep values that no label can have; they select no object."""
    errors = object_meta.validate_labels(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{index}]"
        errors += _validate_expression(expression, here)
        if not allows_invalid_values:
            errors += validate_values(expression.get("values") or (), f"{here}.values")
    return errors


def _validate_expression(expression: Mapping[str, Any], path: str) -> list[FieldError]:
    key, values = expression.get("key", ""), expression.get("values") or ()
    errors = _validate_operator(expression.get("operator", ""), path, has_values=bool(values))
    return errors + field.invalid_each(f"{path}.key", key, names.check_qualified_name(key))


def validate_values(values: Sequence[str], path: str) -> list[FieldError]:
    """The errors of label values."""
    return [
        field.invalid(f"{path}[{index}]", value, text)
        for index, value in enumerate(values)
        for text in names.check_label_value(value)
    ]


def _validate_operator(operator: str, path: str, *, has_values: bool) -> list[FieldError]:
    match operator:
        case "In" | "NotIn":
            return [] if has_values else [field.required(f"{path}.values", _NO_VALUES)]
        case "Exists" | "DoesNotExist":
            return [field.forbidden(f"{path}.values", _ANY_VALUES)] if has_values else []
        case _:
            return [field.invalid_typed(f"{path}.operator", operator, "not a valid selector operator")]


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether the labels meet every requirement of a valid selector. No selector selects no object."""
    if selector is None:
        return False
    equal = all(labels.get(name) == value for name, value in (selector.get("matchLabels") or {}).items())
    return equal and all(_meets(one, labels) for one in selector.get("matchExpressions") or ())


def _meets(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = expression.get("key", ""), expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return key in labels and labels[key] in values
        case "NotIn":
            return key not in labels or labels[key] not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case _:
            return False
