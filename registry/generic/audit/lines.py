"""Lines: audit events as lines of a log, as JSON or in kube-apiserver's legacy text."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.audit.trail import Event

_ESCAPED = {b"<": rb"\u003c", b">": rb"\u003e", b"&": rb"\u0026"}
"""Go's JSON encoder escapes these, which stand in texts alone."""


def in_json(event: Event) -> bytes:
    line = orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE)
    for plain, escaped in _ESCAPED.items():
        line = line.replace(plain, escaped)
    return line


def in_text(event: Event) -> bytes:
    return f"{text(event)}\n".encode()


FORMATS: Mapping[str, Callable[[Event], bytes]] = {"legacy": in_text, "json": in_json}


def text(event: Event) -> str:
    """An event without its bodies, as text."""
    user: Mapping[str, Any] = event.get("user") or {}
    other: Mapping[str, Any] | None = event.get("impersonatedUser")
    status: Mapping[str, Any] | None = event.get("responseStatus")
    shown = {
        "id": event["auditID"],
        "stage": event["stage"],
        "ip": next(iter(event.get("sourceIPs") or ()), "<unknown>"),
        "method": event.get("verb", ""),
        "user": user.get("username") or "<none>",
        "groups": _listed(user.get("groups") or ()) or "<none>",
        "as": "<self>" if other is None else other.get("username", ""),
        "asgroups": "<lookup>" if other is None or not other.get("groups") else _listed(other["groups"]),
        "user-agent": event.get("userAgent", ""),
        "namespace": (event.get("objectRef") or {}).get("namespace") or "<none>",
        "uri": event.get("requestURI", ""),
        "response": "<deferred>" if status is None else str(status.get("code", 0)),
    }
    parts = " ".join(f"{name}={quote(value)}" for name, value in shown.items())
    return f"{_shortened(event['requestReceivedTimestamp'])} AUDIT: {parts}"


def _listed(values: Sequence[str]) -> str:
    return ",".join(map(quote, values))


def _shortened(timestamp: str) -> str:
    """A time without zeros at the end of its fraction."""
    whole, _, fraction = timestamp.removesuffix("Z").partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}Z" if fraction else f"{whole}Z"
