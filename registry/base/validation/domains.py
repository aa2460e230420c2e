"""Names that begin with a domain or stand for one: wildcards, domains with a path, signers. Pure."""

import re

from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1123_SUBDOMAIN, Format

_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"

WILDCARD = Format(
    rf"\*\.{DNS1123_SUBDOMAIN.pattern}",
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    ("*.example.com",),
    253,
)
C_IDENTIFIER = Format(
    "[A-Za-z_][A-Za-z0-9_]*",
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric "
    "characters or '_'",
    ("my_name", "MY_NAME", "MyName"),
)


def validate_format(value: str, text_format: Format, path: str) -> list[FieldError]:
    """A field with one format."""
    return field.invalid_each(path, value, text_format.check(value))


def validate_segment(value: str, path: str) -> list[FieldError]:
    """A field that may stand in a URL path between two slashes."""
    return field.invalid_each(path, value, names.is_path_segment(value, False))


def validate_prefixed_path(value: str, path: str) -> list[FieldError]:
    """A domain, a slash and a path: `acme.io/foo`."""
    if not value:
        return [field.required(path)]
    host, _, rest = value.partition("/")
    if not host or not rest:
        return [field.invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    errors = validate_format(host, DNS1123_SUBDOMAIN, path)
    if not re.fullmatch(_PATH, rest):
        errors.append(field.invalid(path, rest, names.regex_error("Invalid path", _PATH)))
    return errors


def validate_qualified(value: str, path: str) -> list[FieldError]:
    """A domain of three parts or more."""
    if not value:
        return [field.required(path)]
    if messages := DNS1123_SUBDOMAIN.check(value):
        return [field.invalid(path, value, ",".join(messages))]
    if value.count(".") < 2:
        why = "should be a domain with at least three segments separated by dots"
        return [field.invalid(path, value, why)]
    return []
