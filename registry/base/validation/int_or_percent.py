"""Int or percent: Kubernetes' IntOrString amounts such as `3` and `"25%"`, their validation and value. Pure."""

import re

from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError

IntOrPercent = int | str

_PERCENT = "[0-9]+%"
_NOT_A_PERCENT = names.regex_error(
    "a valid percent string must be a numeric string followed by an ending '%'", _PERCENT, "1%", "93%"
)
_NUMBER = re.compile("[+-]?[0-9]+", re.ASCII)


def invalid(path: str, amount: IntOrPercent, detail: str) -> FieldError:
    """The error of an amount, which is shown as JSON."""
    return field.invalid_typed(path, amount, detail) if isinstance(amount, str) else field.invalid(path, amount, detail)


def validate(amount: IntOrPercent, path: str) -> list[FieldError]:
    """The errors of an amount: a number must not be negative, a text must be a percentage."""
    if isinstance(amount, str):
        return [] if _share(amount) is not None else [invalid(path, amount, _NOT_A_PERCENT)]
    return [invalid(path, amount, "must be greater than or equal to 0")] if amount < 0 else []


def validate_at_most_all(amount: IntOrPercent, path: str) -> list[FieldError]:
    """The error of a percentage above 100."""
    share = _share(amount)
    return [] if share is None or share <= 100 else [invalid(path, amount, "must not be greater than 100%")]


def value_of(amount: IntOrPercent) -> int:
    """The number, or the number of percent; 0 for other text."""
    share = _share(amount)
    if share is not None:
        return share
    if isinstance(amount, str):
        return int(amount) if _NUMBER.fullmatch(amount) else 0
    return amount


def _share(amount: IntOrPercent) -> int | None:
    if isinstance(amount, str) and re.fullmatch(_PERCENT, amount, re.ASCII):
        return int(amount[:-1])
    return None
