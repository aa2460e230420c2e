"""Webhook words: error messages for failing webhooks, in the words of Go's HTTP client and of client-go.

Pure. Operators know these messages, and programs search for them.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from aio_apiserver.registry.base.golang.quoting import quote

HIDDEN = "***"
"""Takes the place of a secret in messages."""

_LONGEST_TEXT = 2048
_LONGEST_STATUS = 64 * 1024
_STATUSES: Mapping[int, str] = {
    400: "the server rejected our request for an unknown reason",
    401: "the server has asked for the client to provide credentials",
    404: "the server could not find the requested resource",
    405: "the server does not allow this method on the requested resource",
    409: "the server reported a conflict",
    422: "the server rejected our request due to an error in our request",
    429: "the server has received too many requests and has asked us to try again later",
    503: "the server is currently unable to handle the request",
    504: "the server was unable to return a response in the time allotted, but may still be processing the request",
}
_TOO_MANY, _SERVER_ERRORS, _NOT_AVAILABLE = 429, 500, 503
_PASSING = frozenset({"InternalError", "Timeout", "ServerTimeout", "TooManyRequests"})
"""The reasons of a Status for which a retry may succeed."""
_ITS_OWN_WORDS = frozenset({403, 415})
_UNKNOWN = "unknown"


def redacted(url: str) -> str:
    """A URL for messages: its password is hidden."""
    head, at, tail = url.partition("@")
    scheme, slashes, user = head.partition("://")
    name, colon, _ = user.partition(":")
    if not at or not colon or "/" in user:
        return url
    return f"{scheme}{slashes}{name}:{HIDDEN}@{tail}"


def of_status(status: int, media_type: str, body: bytes) -> str:
    """The message of a response that is not a success: of its Status, if it is one."""
    return str(_failure(body).get("message") or "") or _of_code(status, _text(media_type, body))


def may_pass(status: int, retry_after: int, body: bytes) -> bool:
    """Whether a retry may succeed after this response."""
    failure = _failure(body)
    details = failure.get("details")
    if retry_after > 0 or (isinstance(details, dict) and details.get("retryAfterSeconds")):
        return True
    if not failure:
        return status == _TOO_MANY or (status >= _SERVER_ERRORS and status != _NOT_AVAILABLE)
    return failure.get("code") == _TOO_MANY or failure.get("reason") in _PASSING


def _failure(body: bytes) -> Mapping[str, Any]:
    """The Status of a failed response; empty when the body is not one, or a very long one."""
    if len(body) > _LONGEST_STATUS:
        return {}
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    is_failure = (
        isinstance(value, dict) and value.get("kind", "Status") == "Status" and value.get("status") == "Failure"
    )
    return value if is_failure else {}


def _text(media_type: str, body: bytes) -> str:
    """The text of a plain response."""
    if media_type and not media_type.startswith("text/"):
        return _UNKNOWN
    return body[:_LONGEST_TEXT].decode(errors="replace").strip()


def _of_code(status: int, text: str) -> str:
    if status in _ITS_OWN_WORDS:
        return text
    if status == 406:
        known = text not in {"", _UNKNOWN}
        return text if known else "the server was unable to respond with a content type that the client supports"
    if status in _STATUSES:
        return _STATUSES[status]
    if status >= 500:
        return f"an error on the server ({quote(text)}) has prevented the request from succeeding"
    return f"the server responded with the status code {status} but did not return more information"
