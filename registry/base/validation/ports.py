"""Ports: their numbers, and the names that stand for them. Each check returns what is wrong. Pure."""

import re
from typing import Any

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError

PORTS = range(1, 65536)

_NUMBER = "must be between 1 and 65535, inclusive"
_NAME_LIMIT = 15
_CHARACTERS = re.compile(r"[-a-z0-9]+")
_LETTER = re.compile(r"[a-z]")


def check_port_number(port: int) -> list[str]:
    """A port that is not zero."""
    return [] if port in PORTS else [_NUMBER]


def check_port_name(name: str) -> list[str]:
    """A short word of small letters, digits and single hyphens, with a letter in it."""
    checks = (
        (len(name.encode()) > _NAME_LIMIT, f"must be no more than {_NAME_LIMIT} characters"),
        (not _CHARACTERS.fullmatch(name), "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"),
        (not _LETTER.search(name), "must contain at least one letter (a-z)"),
        ("--" in name, "must not contain consecutive hyphens"),
        (name.startswith("-") or name.endswith("-"), "must not begin or end with a hyphen"),
    )
    return [message for is_wrong, message in checks if is_wrong]


def validate_number(port: int, path: str) -> list[FieldError]:
    return field.invalid_each(path, port, check_port_number(port))


def validate(port: Any, path: str) -> list[FieldError]:
    """A port that is told by its number or by its name; one that is not told is number 0."""
    if isinstance(port, str):
        return field.invalid_each(path, port, check_port_name(port))
    return validate_number(port or 0, path)
