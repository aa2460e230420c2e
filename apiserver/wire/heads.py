"""heads: RequestHead, the header fields of a request with what the filters and handlers read in them.

A client repeats its header fields on a connection, so each connection keeps its latest head for its next request. Pure.
Must hold: the same fields make the same RequestHead, whatever the method, the target and the Content-Length are. A
connection keeps short heads. The memory of long heads is counted (head_memory.py, request_memory.py).
"""

import re

from aiohttp import hdrs
from aiohttp.http_parser import RawRequestMessage
from aiohttp.typedefs import RawHeaders
from multidict import CIMultiDict, CIMultiDictProxy, istr
from yarl import URL

from aio_apiserver.apiserver.wire.negotiation import Format

AUDIT_ID = istr("Audit-ID")
_IMPERSONATION = b"impersonate-"
_CONTENT_LENGTH = b"content-length"
_VALID_HOST = re.compile(r"[\w!$%&()*+,\-.:;=\['\]~]*", re.ASCII).fullmatch
_PEOPLE = ("curl", "Wget", "Mozilla/5.0")
NO_FIELDS: "CIMultiDictProxy[str]" = CIMultiDictProxy(CIMultiDict())
_LONGEST_KEPT = 16 * 1024
"""The memory of the fields that a connection keeps."""
LONG_BYTES = 24 * 1024
"""The memory of the longest head that is not counted."""
_FIELD_BYTES = 400
"""The memory of an empty field: its name and its value, as bytes and as texts."""
_TARGET_COPIES = 4
"""The target itself, its path and query, and these decoded."""


def memory_of(fields: int, characters: int) -> int:
    """The memory of so many fields with so many characters."""
    return _FIELD_BYTES * fields + 2 * characters


class LongHead:
    """A parsed request with a long head, in the form of aiohttp's parsed requests. The engine keeps it until the next
    request on the connection, so its fields can be forgotten. `size`: its memory.
    """

    __slots__ = (
        *("chunked", "compression", "headers", "method", "path", "raw_headers", "should_close", "size", "upgrade"),
        *("url", "version"),
    )

    def __init__(self, message: RawRequestMessage, size: int, *, should_close: bool) -> None:
        self.size = size
        self.method, self.path, self.version, self.url = message.method, message.path, message.version, message.url
        self.headers, self.raw_headers = message.headers, message.raw_headers
        self.should_close = should_close
        self.compression, self.upgrade, self.chunked = message.compression, message.upgrade, message.chunked

    def forget(self) -> None:
        """The response has been written, or a watch has begun."""
        self.path, self.url = "", URL()
        self.headers, self.raw_headers = NO_FIELDS, ()


def long_head_bytes(message: RawRequestMessage) -> int:
    """The memory of the head of a request when it is long; 0 for all others."""
    raw = message.raw_headers
    fields = memory_of(len(raw), sum(len(name) + len(value) for name, value in raw))
    size = fields + _TARGET_COPIES * len(message.path)
    return size if size > LONG_BYTES else 0


class RequestHead:
    """The header fields of one request or more.

    token: the bearer token; is_misspelt: there is more text where the token should be. encodings: the transfer
    encodings of the body. is_odd: framing.py has to judge them, or the host. is_of_people: a person reads the response,
    in a browser or with curl. formats: the formats that were negotiated from the fields, by the formats that a resource
    has. is_short: whether a connection may keep it.
    """

    __slots__ = (
        "_length_at",
        "accept",
        "audit_id",
        "encodings",
        "formats",
        "has_valid_host",
        "is_impersonating",
        "is_misspelt",
        "is_odd",
        "is_of_people",
        "is_short",
        "raw",
        "token",
    )

    def __init__(self, raw: RawHeaders, fields: "CIMultiDictProxy[str]") -> None:
        self.raw = raw
        self.audit_id = fields.get(AUDIT_ID, "")
        self.has_valid_host = _VALID_HOST(fields.get(hdrs.HOST, "")) is not None
        self.encodings = fields.getall(hdrs.TRANSFER_ENCODING, ())
        self.is_odd = bool(self.encodings) or not self.has_valid_host
        self.token, self.is_misspelt = _bearer(fields.get(hdrs.AUTHORIZATION))
        self.is_impersonating = False
        self._length_at: int | None = None
        size = 0
        for index, (name, value) in enumerate(raw):
            size += len(name) + len(value)
            lower = name.lower()
            if lower == _CONTENT_LENGTH:
                self._length_at = index
            elif lower.startswith(_IMPERSONATION):
                self.is_impersonating = True
        self.is_short = memory_of(len(raw), size) <= _LONGEST_KEPT
        self.accept = fields.get(hdrs.ACCEPT, "")
        self.is_of_people = fields.get(hdrs.USER_AGENT, "").startswith(_PEOPLE)
        self.formats: dict[object, Format] = {}

    def fits(self, raw: RawHeaders) -> bool:
        """Whether these fields differ in the length of the body alone, as those of most writes of a client do."""
        known, at = self.raw, self._length_at
        if at is None or len(known) != len(raw) or known[at][0] != raw[at][0]:
            return False
        return known[:at] == raw[:at] and known[at + 1 :] == raw[at + 1 :]


def _bearer(header: str | None) -> tuple[str, bool]:
    if not header:
        return "", False
    scheme, _, credentials = header.strip().partition(" ")
    if not credentials or scheme.lower() != "bearer":
        return "", False
    token, has_more, _ = credentials.partition(" ")
    return token, bool(has_more) and not token


NO_HEAD = RequestHead((), NO_FIELDS)
"""The head without fields."""
