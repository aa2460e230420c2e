"""Data: the rules for keys, size and immutability that config maps and secrets share."""

from collections.abc import Mapping, Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import CONFIG_KEY

LIMIT = 1024 * 1024
"""The largest sum of all values, in bytes."""

_FROZEN = "field is immutable when `immutable` is set"


def validate_keys(data: Mapping[str, str], path: str) -> list[FieldError]:
    """The field errors of all keys."""
    return [field.invalid(f"{path}[{key}]", key, message) for key in data for message in check_key(key)]


def check_key(key: str) -> list[str]:
    """The messages for one key. A key becomes a file name in a volume."""
    errors = CONFIG_KEY.check(key)
    if key in {".", ".."}:
        errors.append(f"must not be '{key}'")
    elif key.startswith(".."):
        errors.append("must not start with '..'")
    return errors


def bytes_in_base64(values: Mapping[str, str | None]) -> int:
    """The size of base64 values after decoding; null counts as empty."""
    return sum(len(value) * 3 // 4 - value[-2:].count("=") for value in values.values() if value)


def validate_frozen(new: Object, old: Object, names: Sequence[str]) -> list[FieldError]:
    """The errors of an update to an immutable object. Its data stays, and so does `immutable`."""
    if not old.get("immutable"):
        return []
    errors = [] if new.get("immutable") else [field.forbidden("immutable", _FROZEN)]
    return errors + [field.forbidden(name, _FROZEN) for name in names if new.get(name) != old.get(name)]
