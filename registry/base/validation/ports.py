"""Ports: validation of port numbers and port names. Pure.

A check returns a list of mistakes; a `validate` function returns field errors.
"""

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
    """The mistakes of a port number; 0 is not valid."""
    return [] if port in PORTS else [_NUMBER]


def check_port_name(name: str) -> list[str]:
    """The mistakes of a port name: at most 15 lower case letters, digits and single hyphens, and a letter."""
    checks = (
        (len(name.encode()) > _NAME_LIMIT, f"must be no more than {_NAME_LIMIT} characters"),
        (not _CHARACTERS.fullmatch(name), "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"),
        (not _LETTER.search(name), "must contain at least one letter (a-z)"),
        ("--" in name, "must not contain consecutive hyphens"),
        (name.startswith("-") or name.endswith("-"), "must not begin or end with a hyphen"),
    )
    return [message for is_wrong, message in checks if is_wrong]


def validate_number(port: int, path: str) -> list[FieldError]:
    return [] if port in PORTS else field.invalid_each(path, port, check_port_number(port))


def validate(port: Any, path: str) -> list[FieldError]:
    """The errors of a port given as number or name; a missing port counts as number 0."""
    if isinstance(port, str):
        return field.invalid_each(path, port, check_port_name(port))
    return validate_number(port or 0, path)
