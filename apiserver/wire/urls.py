"""URLs: decodes a request target into its path and query parameters.

Pure. Must hold: a path is decoded once and not cleaned (`//`, `.` and `..` stay). Query parameters that cannot be
decoded are ignored, as in kube-apiserver. The errors raised here are MalformedTarget and TooManyParameters.
"""

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus, urlsplit

Query = Mapping[str, Sequence[str]]
"""Query parameters: all values by name, in order."""

NO_QUERY: Query = MappingProxyType({})
_BROKEN_ESCAPE = re.compile("%(?![0-9a-fA-F]{2})")
MOST_PARAMETERS = 10_000
"""The limit of Go's net/url (CVE-2025-61726)."""


class MalformedTarget(ValueError):
    """The request target is not valid."""


class TooManyParameters(ValueError):
    """The query has more parameters than the limit."""


class RequestTarget(NamedTuple):
    """A decoded request target."""

    path: str
    query: Query


def parse(raw: str) -> RequestTarget:
    """The path and query of a request target: "/a%20b?x=1" or "http://host/a%20b?x=1".

    Raises MalformedTarget, TooManyParameters.
    """
    path, _, query = without_authority(raw).partition("?")
    if "%" in path:
        if _BROKEN_ESCAPE.search(path):
            raise MalformedTarget(raw)
        path = unquote(path, errors="replace")
    return RequestTarget(path, parse_query(query) if query else NO_QUERY)


def parse_query(text: str) -> Query:
    """The parameters, in order of appearance. Pairs with a semicolon or a broken escape are left out.

    Raises TooManyParameters.
    """
    if text.count("&") >= MOST_PARAMETERS:
        raise TooManyParameters(text)
    parameters: dict[str, list[str]] = {}
    for pair in text.split("&"):
        if not pair or ";" in pair:
            continue
        name, _, value = pair.partition("=")
        if "%" in pair and _BROKEN_ESCAPE.search(pair):
            continue
        parameters.setdefault(_decode(name), []).append(_decode(value))
    return parameters


def without_authority(raw: str) -> str:
    """The path and query of a request target, not decoded. Raises MalformedTarget."""
    if raw.startswith("/"):
        return raw
    try:
        parts = urlsplit(raw)
    except ValueError as exc:
        raise MalformedTarget(raw) from exc
    if parts.scheme not in ("http", "https"):
        raise MalformedTarget(raw)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _decode(text: str) -> str:
    return unquote_plus(text, errors="replace") if "%" in text or "+" in text else text
