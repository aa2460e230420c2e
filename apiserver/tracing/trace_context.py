"""trace_context: the W3C header fields traceparent, tracestate and baggage of a request.

Pure. Must hold: fields that break the recommendation's grammar count as absent, as in OpenTelemetry's propagators.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")
_UNKNOWN_VERSION = "ff"
_SAMPLED = 1
_KNOWN_FLAGS = 2
_LONGEST = 8192
_LONGEST_STATE = 512


class RemoteParent(Struct, frozen=True):
    """The span of the client that has caused a request."""

    trace: int
    span: int
    is_sampled: bool
    state: str = ""


def parent_of(headers: Mapping[str, str]) -> RemoteParent | None:
    """The client's span in the header fields of a request."""
    found = _PARENT.fullmatch(headers.get("traceparent", ""))
    if found is None:
        return None
    version, trace, span, flags, rest = found.groups()
    number, flag = int(trace, 16), int(flags, 16)
    is_first = version == "00"
    if version == _UNKNOWN_VERSION or not number or not int(span, 16) or (is_first and (rest or flag > _KNOWN_FLAGS)):
        return None
    return RemoteParent(number, int(span, 16), bool(flag & _SAMPLED), _plain(headers, "tracestate", _LONGEST_STATE))


def baggage_of(headers: Mapping[str, str]) -> str:
    """The baggage of a request; empty when it cannot be passed on."""
    return _plain(headers, "baggage", _LONGEST)


def _plain(headers: Mapping[str, str], name: str, longest: int) -> str:
    value = headers.get(name, "")
    return value if len(value) <= longest and value.isascii() and value.isprintable() else ""
