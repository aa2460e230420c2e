"""Rules for single values that many kinds share."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError

_AT_LEAST_ZERO = "must be greater than or equal to 0"


def not_negative(obj: Mapping[str, Any], path: str, names: Sequence[str]) -> list[FieldError]:
    """Numbers, where they are set, are zero or more."""
    return [
        field.invalid(f"{path}.{name}", obj[name], _AT_LEAST_ZERO)
        for name in names
        if obj.get(name) is not None and obj[name] < 0
    ]


def one_of(obj: Mapping[str, Any], path: str, name: str, supported: Collection[str]) -> list[FieldError]:
    """A word of a fixed list, in the order in which it is told; what is not set is another rule's."""
    value = obj.get(name)
    return [field.not_supported(f"{path}.{name}", value, supported)] if value and value not in supported else []


def lone_wildcard(values: Sequence[str], path: str, what: str) -> list[FieldError]:
    """Where there is a star, nothing else is needed."""
    if len(values) < 2 or "*" not in values:
        return []
    return [field.invalid(path, values, f"if '*' is present, must not specify other {what}")]


def required_one_of(obj: Mapping[str, Any], path: str, name: str, supported: Collection[str]) -> list[FieldError]:
    """A word of a fixed list that has to be there."""
    return one_of(obj, path, name, supported) if obj.get(name) else [field.required(f"{path}.{name}")]
