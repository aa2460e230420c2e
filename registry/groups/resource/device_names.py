"""Device names: validates the names of drivers, pools, attributes and requests. Pure."""

import re

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import domains, field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1123_LABEL, DNS1123_SUBDOMAIN

_LONGEST_DRIVER = 63
_LONGEST_POOL = 253
_LONGEST_ID = 32
LONGEST_KEY = _LONGEST_DRIVER + 1 + _LONGEST_ID

_UUID = re.compile(r"[0-9a-fA-F]{8}((-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9a-fA-F]{24})")
_URN = "urn:uuid:"
_DASHED = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
_NORMAL_FORM = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal "
    "characters"
)


def validate_driver(name: str, path: str) -> list[FieldError]:
    """The errors of the name of a driver, which is a DNS subdomain in any case."""
    if not name:
        return [field.required(path)]
    errors = [field.too_long(path, _LONGEST_DRIVER)] if len(name.encode()) > _LONGEST_DRIVER else []
    return errors + field.invalid_each(path, name, DNS1123_SUBDOMAIN.check(name.lower()))


def validate_pool(name: str, path: str) -> list[FieldError]:
    """The errors of the name of a pool, which is one or more DNS subdomains with slashes."""
    if not name:
        return [field.required(path)]
    errors = [field.too_long(path, _LONGEST_POOL)] if len(name.encode()) > _LONGEST_POOL else []
    return errors + [error for part in name.split("/") for error in validate_domain(part, path)]


def validate_domain(name: str, path: str) -> list[FieldError]:
    """The errors of a DNS subdomain."""
    return domains.validate_format(name, DNS1123_SUBDOMAIN, path)


def validate_label(name: str, path: str) -> list[FieldError]:
    """The errors of the name of a device, a request or a counter."""
    return domains.validate_format(name, DNS1123_LABEL, path)


def validate_uid(uid: str, path: str) -> list[FieldError]:
    """The errors of a UUID, which has to be in its normal form."""
    if why := _check_uuid(uid):
        return [field.invalid(path, uid, f"error validating uid: {why}")]
    is_normal = len(uid) == len(_DASHED) and uid == uid.lower()
    return [] if is_normal else [field.invalid(path, uid, _NORMAL_FORM)]


def _check_uuid(text: str) -> str:
    """The message for a text that is no UUID in any form; empty for a UUID."""
    if len(text) == len(_URN + _DASHED):
        if text[: len(_URN)].lower() != _URN:
            return f"invalid urn prefix: {quote(text[: len(_URN)])}"
        text = text[len(_URN) :]
    elif len(text) == len(_DASHED) + 2:
        if text[0] != "{" or text[-1] != "}":
            return "invalid bracketed UUID format"
        text = text[1:-1]
    if len(text) not in {len(_DASHED), len(_DASHED) - 4}:
        return f"invalid UUID length: {len(text.encode())}"
    return "" if _UUID.fullmatch(text) else "invalid UUID format"


def validate_qualified(name: str, path: str) -> list[FieldError]:
    """The errors of the name of an attribute or capacity: an identifier, with or without a domain."""
    parts = name.split("/")
    if len(parts) == 1:
        return _validate_identifier(name, path)
    if len(parts) > 2:
        return []
    domain, identifier = parts
    errors = validate_driver(domain, path) if domain else [field.invalid(path, "", "the domain must not be empty")]
    if not identifier:
        return [*errors, field.invalid(path, "", "the name must not be empty")]
    return errors + _validate_identifier(identifier, path)


def validate_fully_qualified(name: str, path: str) -> list[FieldError]:
    """The errors of the name of an attribute with its domain."""
    errors = validate_qualified(name, path)
    if "/" not in name:
        why = "a fully qualified name must be a domain and a name separated by a slash"
        errors.append(field.invalid(path, name, why))
    return errors


def _validate_identifier(name: str, path: str) -> list[FieldError]:
    errors = [field.too_long(path, _LONGEST_ID)] if len(name.encode()) > _LONGEST_ID else []
    return errors + domains.validate_format(name, domains.C_IDENTIFIER, path)
