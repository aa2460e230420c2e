"""Lists: validates lists, sets and maps of limited size. Pure.

Must hold: the items of a collection above its limit are not validated.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError

T = TypeVar("T")
Check = Callable[[T, str], list[FieldError]]

_SHORTEST_KEY = 16


def validate_list(items: Sequence[T], path: str, limit: int | None, check: Check[T]) -> list[FieldError]:
    """The errors of all items, or one error for too many items."""
    if limit is not None and len(items) > limit:
        return [field.too_many(path, len(items), limit)]
    return [error for index, item in enumerate(items) for error in check(item, f"{path}[{index}]")]


def validate_set(
    items: Sequence[T], path: str, limit: int | None, check: Check[T], *, key: Callable[[T], Any]
) -> list[FieldError]:
    """The errors of all items, and of duplicates."""
    errors = validate_list(items, path, limit, check)
    if limit is not None and len(items) > limit:
        return errors
    keys = [key(item) for item in items]
    return errors + [field.duplicate(f"{path}[{index}]", one) for index, one in enumerate(keys) if one in keys[:index]]


def validate_map(
    items: Mapping[str, T], path: str, limit: int | None, check: Check[T], *, check_key: Check[str], longest: int
) -> list[FieldError]:
    """The errors of all keys and values. Long keys are shortened in error paths."""
    if limit is not None and len(items) > limit:
        return [field.too_many(path, len(items), limit)]
    errors = []
    for key, item in items.items():
        errors += check_key(key, path) + check(item, f"{path}[{_shortened(key, max(longest, _SHORTEST_KEY))}]")
    return errors


def _shortened(text: str, limit: int) -> str:
    if len(text.encode()) <= limit:
        return text
    left = limit - len("...")
    return text[: (left + 1) // 2] + "..." + text[len(text) - left // 2 :]
