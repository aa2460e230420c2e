"""Request targets: the raw text of a request line to a decoded path and query parameters.

Pure. Must hold: a path is decoded exactly once and never cleaned (`//`, `.` and `..` stay what they are); query
parameters that cannot be decoded are ignored, as kube-apiserver does; nothing of it raises but Malformed.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus, urlsplit

Query = Mapping[str, Sequence[str]]
"""Query parameters: every value of a name, in order."""

NO_QUERY: Query = MappingProxyType({})
_HEX = frozenset("0123456789abcdefABCDEF")


class Malformed(ValueError):
    """A request target that is none."""


class Target(NamedTuple):
    """What a request line asks for."""

    path: str
    query: Query


def parse(raw: str) -> Target:
    """The path and query of a request target: "/a%20b?x=1" or "http://host/a%20b?x=1". Raises Malformed."""
    path, _, query = without_authority(raw).partition("?")
    if "%" in path:
        if not _has_valid_escapes(path):
            raise Malformed(raw)
        path = unquote(path, errors="replace")
    return Target(path, parse_query(query) if query else NO_QUERY)


def parse_query(text: str) -> Query:
    """Parameters in order of appearance. Pairs with a semicolon or a broken escape are left out."""
    parameters: dict[str, list[str]] = {}
    for pair in text.split("&"):
        if not pair or ";" in pair:
            continue
        name, _, value = pair.partition("=")
        if "%" in pair and not (_has_valid_escapes(name) and _has_valid_escapes(value)):
            continue
        parameters.setdefault(_decode(name), []).append(_decode(value))
    return parameters


def without_authority(raw: str) -> str:
    """The path and query of a request target, as they are written. Raises Malformed."""
    if raw.startswith("/"):
        return raw
    try:
        parts = urlsplit(raw)
    except ValueError as exc:
        raise Malformed(raw) from exc
    if parts.scheme not in ("http", "https"):
        raise Malformed(raw)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _decode(text: str) -> str:
    return unquote_plus(text, errors="replace") if "%" in text or "+" in text else text


def _has_valid_escapes(text: str) -> bool:
    return all(len(rest) >= 2 and rest[0] in _HEX and rest[1] in _HEX for rest in text.split("%")[1:])
