"""URLs: validation of webhook URLs and service references, with Go's parser messages. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.validation import field, ports
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.base.validation.names import DNS1123_SUBDOMAIN

_FORM = "; desired format: https://host[/path]"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_USERINFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_HOST = re.compile(r"[^\x00-\x20#/?@\\^`{|}\x7f]*")


class UrlError(Exception):
    """Go's message for a text that is no URL."""


class Url(Struct, frozen=True):
    """The parts of a URL; `user` is None when there is no user information."""

    scheme: str = ""
    user: str | None = None
    host: str = ""
    query: str = ""
    fragment: str = ""


def parse(text: str) -> Url:
    """Read a URL. Raises UrlError."""
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise _error(text, "net/url: invalid control character in URL")
    rest, _, fragment = text.partition("#")
    if rest.startswith(":"):
        raise _error(text, "missing protocol scheme")
    match = _SCHEME.match(rest)
    scheme = match[1].lower() if match else ""
    rest, _, query = rest[match.end() if match else 0 :].partition("?")
    if not rest.startswith("/"):
        if not scheme and ":" in rest.partition("/")[0]:
            raise _error(text, "first path segment in URL cannot contain colon")
        return Url(scheme=scheme, query=query, fragment=fragment)
    authority, path = "", rest
    if rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
    user, _, host = authority.rpartition("@")
    for part in (host, path, fragment):
        _check_escapes(text, part)
    _check_host(text, host)
    if not _USERINFO.fullmatch(user):
        raise _error(text, "net/url: invalid userinfo")
    return Url(scheme, user if "@" in authority else None, host, query, fragment)


def _error(text: str, why: str) -> UrlError:
    return UrlError(f"parse {quote(text)}: {why}")


def _check_escapes(text: str, part: str) -> None:
    if match := _ESCAPE.search(part):
        raise _error(text, f"invalid URL escape {quote(match[0])}")


def _check_host(text: str, host: str) -> None:
    if host.startswith("["):
        if "]" not in host:
            raise _error(text, "missing ']' in host")
        port = host.rpartition("]")[2]
    else:
        name, colon, number = host.rpartition(":")
        port = colon + number if name or colon else ""
    if port and not re.fullmatch(r":[0-9]*", port):
        raise _error(text, f"invalid port {quote(port)} after host")
    for character in host:
        if not _HOST.fullmatch(character):
            raise _error(text, f"invalid character {quote(character)} in host name")


def validate_webhook_url(text: str, path: str) -> list[FieldError]:
    """The errors of a webhook's URL: https, a host and a path."""
    try:
        url = parse(text)
    except UrlError as exc:
        return [field.required(path, f"url must be a valid URL: {exc}{_FORM}")]
    checks = (
        (url.scheme != "https", url.scheme, f"'https' is the only allowed URL scheme{_FORM}"),
        (not url.host, url.host, f"host must be specified{_FORM}"),
        (url.user is not None, url.user, "user information is not permitted in the URL"),
        (bool(url.fragment), url.fragment, "fragments are not permitted in the URL"),
        (bool(url.query), url.query, "query parameters are not permitted in the URL"),
    )
    return [field.invalid(path, value, detail) for is_wrong, value, detail in checks if is_wrong]


def validate_webhook_service(service: Mapping[str, Any], path: str) -> list[FieldError]:
    """The errors of a webhook's service reference.

    The field paths of missing `name` and `namespace` are swapped, as upstream.
    """
    errors = []
    for name, other in (("name", "namespace"), ("namespace", "name")):
        if not service.get(other):
            errors.append(field.required(f"{path}.{name}"))
    port = service.get("port") or 0
    if messages := ports.check_port_number(port):
        errors.append(field.invalid(f"{path}.port", port, f"port is not valid: {', '.join(messages)}"))
    return errors + _validate_path(service.get("path"), f"{path}.path")


def _validate_path(text: str | None, path: str) -> list[FieldError]:
    if not text or text == "/":
        return []
    if text == "//":
        return [field.invalid(path, text, "segment[0] may not be empty")]
    errors = [] if text.startswith("/") else [field.invalid(path, text, "must start with a '/'")]
    for index, step in enumerate(text[1:].removesuffix("/").split("/")):
        messages = [f": {message}" for message in DNS1123_SUBDOMAIN.check(step)] if step else [" may not be empty"]
        errors += [field.invalid(path, text, f"segment[{index}]{message}") for message in messages]
    return errors
