"""Taints of nodes: what keeps pods away. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import field, internal, names
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def validate(taints: Sequence[Mapping[str, Any]], path: str) -> list[FieldError]:
    """What is wrong with the taints of one node."""
    errors: list[FieldError] = []
    seen = set()
    for index, taint in enumerate(taints):
        place = f"{path}[{index}]"
        errors += _validate_taint(taint, place)
        identity = (taint.get("key", ""), taint.get("effect", ""))
        if identity in seen:
            detail = "taints must be unique by key and effect pair"
            errors.append(FieldError(ErrorType.DUPLICATE, place, internal.form("core.Taint", taint), detail))
        seen.add(identity)
    return errors


def _validate_taint(taint: Mapping[str, Any], path: str) -> list[FieldError]:
    key, value, effect = (taint.get(name) or "" for name in ("key", "value", "effect"))
    errors = field.invalid_each(f"{path}.key", key, names.check_qualified_name(key))
    if messages := names.check_label_value(value):
        errors.append(field.invalid(f"{path}.value", value, ";".join(messages)))
    if not effect:
        errors.append(field.required(f"{path}.effect"))
    elif effect not in EFFECTS:
        errors.append(field.not_supported(f"{path}.effect", effect, EFFECTS))
    return errors
