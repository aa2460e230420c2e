"""Amounts that are a number or a share: `3`, `"25%"`. Their rules and what they count for. Pure."""

import re

from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError

IntOrPercent = int | str

_PERCENT = "[0-9]+%"
_NOT_A_PERCENT = names.regex_error(
    "a valid percent string must be a numeric string followed by an ending '%'", _PERCENT, "1%", "93%"
)
_NUMBER = re.compile("[+-]?[0-9]+", re.ASCII)


def validate(amount: IntOrPercent, path: str) -> list[FieldError]:
    """A number is zero or more, a text is a share."""
    if isinstance(amount, str):
        return [] if _share(amount) is not None else [field.invalid(path, amount, _NOT_A_PERCENT)]
    return [field.invalid(path, amount, "must be greater than or equal to 0")] if amount < 0 else []


def validate_at_most_all(amount: IntOrPercent, path: str) -> list[FieldError]:
    """A share is not more than the whole."""
    share = _share(amount)
    return [] if share is None or share <= 100 else [field.invalid(path, amount, "must not be greater than 100%")]


def value_of(amount: IntOrPercent) -> int:
    """The number, or that of the percents; 0 for what is neither."""
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
