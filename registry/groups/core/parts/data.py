"""The data of config maps and secrets: its keys, its size, and that it may be frozen."""

from collections.abc import Mapping, Sequence

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import CONFIG_KEY
from aio_apiserver.storage.stored_object import Object

LIMIT = 1024 * 1024
"""Bytes of all values together."""

_FROZEN = "field is immutable when `immutable` is set"


def validate_keys(data: Mapping[str, str], path: str) -> list[FieldError]:
    """What is wrong with the keys."""
    return [field.invalid(f"{path}[{key}]", key, message) for key in data for message in check_key(key)]


def check_key(key: str) -> list[str]:
    """What is wrong with a key: it is a file name in a volume."""
    errors = CONFIG_KEY.check(key)
    if key in {".", ".."}:
        errors.append(f"must not be '{key}'")
    elif key.startswith(".."):
        errors.append("must not start with '..'")
    return errors


def bytes_in_base64(values: Mapping[str, str | None]) -> int:
    """The size of values that are kept in base64; null is none."""
    return sum(len(value) * 3 // 4 - value[-2:].count("=") for value in values.values() if value)


def validate_frozen(new: Object, old: Object, names: Sequence[str]) -> list[FieldError]:
    """An immutable object keeps its data and stays immutable."""
    if not old.get("immutable"):
        return []
    errors = [] if new.get("immutable") else [field.forbidden("immutable", _FROZEN)]
    return errors + [field.forbidden(name, _FROZEN) for name in names if new.get(name) != old.get(name)]
