"""common_history: the field errors and warnings of all kinds that are different in some minors.

They come from the rules of metadata, addresses and names, which all kinds share. Pure tables.
"""

import re
from collections.abc import Sequence

from msgspec.structs import replace

from aio_apiserver.registry.base.validation import field, go_syntax, names
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.generic.error_history import (
    ErrorRow,
    WarningRow,
    absent,
    since,
    until,
    warned_until,
)

ERRORS_ONCE = (1, 37)
"""Since it, an error that two rules find stands once among the causes."""
DRIVER_NAME = (
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'Example.com', regex used for validation is "
    r"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
"""The message for the name of a driver since 1.37."""
_STRICT_ADDRESSES = (1, 36)
"""Before it, old fields took addresses with leading zeros, IPv4-mapped ones and blocks with host bits, and warned."""

_IN_LISTS = (1, 37)
"""Since it, the errors of an owner reference show its position, and a missing value is a required one."""


def _of_owner(error: FieldError) -> Sequence[FieldError]:
    path = re.sub(r"ownerReferences", rf"ownerReferences[{error.position}]", error.path)
    if error.value == "":
        return (field.required(path, "must not be empty"),)
    if path.endswith(".apiVersion"):
        return (field.invalid(path, error.value, "must be <group>/<version> or <version>"),)
    return (replace(error, path=path),)


def _naming_the_field(error: FieldError) -> Sequence[FieldError]:
    return (replace(error, detail=f"{error.path.rpartition('.')[2]} {error.detail}"),)


def with_empty_name(error: FieldError) -> Sequence[FieldError]:
    """The error of a missing name of a driver, and that of its format, which older minors check too."""
    return (error, *field.invalid_each(error.path, "", names.DNS1123_SUBDOMAIN.check("")))


_JSON = (1, 34)
"""Since it, errors show bad values as JSON, no more in Go's syntax."""
_BYTES = (1, 35)
"""Since it, the limits of names are told in bytes."""


def _in_characters(error: FieldError) -> Sequence[FieldError]:
    return (replace(error, detail=error.detail.replace(" bytes", " characters")),)


IN_GO_SYNTAX = until(_JSON, ".*", go_syntax.in_go_syntax, follows=True)
"""The row for errors of reviews, too, which are of no kind."""

ERRORS: Sequence[ErrorRow] = (
    IN_GO_SYNTAX,
    until(_JSON, r"metadata\.ownerReferences\.\w+", _naming_the_field, detail="must not be empty"),
    until(_BYTES, ".*", _in_characters, detail=r"(name part |prefix part )?must be no more than \d+ bytes"),
    since(_IN_LISTS, r"metadata\.ownerReferences(\.\w+)?", _of_owner, detail="(?!Only one reference).*"),
    until(
        _STRICT_ADDRESSES,
        r"(?!spec\.cidrs|metadata\.name).*",
        absent,
        type=ErrorType.INVALID,
        detail=r"must not have leading 0s.*|must not (be|have) an IPv4-mapped IPv6 address|must not have bits set .*",
    ),
)

WARNINGS: Sequence[WarningRow] = (
    warned_until(
        _STRICT_ADDRESSES,
        r"(non-standard (IP address|CIDR value) .*) is invalid: use",
        r"\1 will be considered invalid in a future Kubernetes release: use",
    ),
)
