"""request_sources: the addresses and the program that a request comes from, for audit events and traces.

Pure. Must hold: addresses in headers are not verified, and a user agent has a bounded length.
"""

import ipaddress
from collections.abc import Iterator

from aiohttp import hdrs, web

_LONGEST_USER_AGENT = 1024
_CUT = "...TRUNCATED"


def user_agent(request: web.BaseRequest) -> str:
    """The User-Agent, cut where it is too long for a log."""
    named = request.headers.get(hdrs.USER_AGENT, "")
    return named[:_LONGEST_USER_AGENT] + _CUT if len(named) > _LONGEST_USER_AGENT else named


def addresses(request: web.BaseRequest) -> Iterator[str]:
    """The source addresses of a request: first those in proxy headers, which are not verified, then the connection's
    own.
    """
    last = ""
    seen: set[str] = set()
    for part in request.headers.get(hdrs.X_FORWARDED_FOR, "").split(","):
        if address := _address(part.strip()):
            seen.add(address)
            last = address
            yield address
    real = _address(request.headers.get("X-Real-Ip", ""))
    if real and real not in seen:
        last = real
        yield real
    remote = _address(request.remote or "")
    if remote and remote != last:
        yield remote


def _address(text: str) -> str:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return ""
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)
