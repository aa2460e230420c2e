"""URIs of requests: absolute ones and absolute paths, as Go's url.ParseRequestURI reads them. Pure."""

import ipaddress
import re

_SCHEME = re.compile("[a-zA-Z][a-zA-Z0-9+.-]*", re.ASCII)
_CONTROL = re.compile("[\x00-\x1f\x7f]")
_BAD_ESCAPE = re.compile("%(?![0-9a-fA-F]{2})")
_USER_INFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)
_BAD_HOST = re.compile(r'[\s<>"^`{|}\\]')


def is_request_uri(text: str) -> bool:
    """Whether a text is one."""
    if not text or _CONTROL.search(text):
        return False
    if text == "*":
        return True
    scheme, rest = _split_scheme(text)
    if scheme is None:
        return False
    path = rest.partition("?")[0]
    if not path.startswith("/"):
        return bool(scheme)  # opaque: mailto:x
    if not path.startswith("//") or (not scheme and path.startswith("///")):
        return not _BAD_ESCAPE.search(path)
    if not scheme and not path.startswith("//"):
        return not _BAD_ESCAPE.search(path)
    authority, _, below = path[2:].partition("/")
    return _is_authority(authority) and not _BAD_ESCAPE.search(below)


def _split_scheme(text: str) -> tuple[str | None, str]:
    """The scheme and what follows it; None for a text that begins with a colon or a wrong scheme."""
    head, found, rest = text.partition(":")
    if not found or not _SCHEME.match(head) or _SCHEME.fullmatch(head) is None:
        return (None if text.startswith(":") else ""), text
    return head, rest


def _is_authority(authority: str) -> bool:
    user, found, host = authority.rpartition("@")
    if found and not _USER_INFO.fullmatch(user):
        return False
    if host.startswith("["):
        address, closed, port = host[1:].partition("]")
        return bool(closed) and _is_ipv6(address) and _is_port(port)
    name, colon, number = host.partition(":")
    if _BAD_HOST.search(name) or _BAD_ESCAPE.search(name):
        return False
    return _is_port(colon + number)


def _is_ipv6(text: str) -> bool:
    try:
        return bool(ipaddress.IPv6Address(text.partition("%25")[0]))
    except ValueError:
        return False


def _is_port(text: str) -> bool:
    return re.fullmatch("(:[0-9]*)?", text, re.ASCII) is not None
