"""Contents: bytes that clients may have already, served as Go's net/http serves files.

Conditions (If-Match, If-None-Match, If-Modified-Since) and one range are honoured. Kept compressed. Must hold: whoever
takes gzip gets the bytes as they are kept; a client that has them gets no body.
"""

import hashlib
import re
import zlib
from collections.abc import Mapping
from email.utils import formatdate, parsedate_to_datetime

from aiohttp import hdrs, web
from msgspec import Struct
from multidict import CIMultiDict

from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.negotiation import quality

_GZIP_WINDOW = 31
_GZIP_FROM_BYTES = 1400
_RANGE = re.compile(r"bytes=(?:(\d+)-(\d*)|-(\d+))")
_READING = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})


class Content(Struct, frozen=True):
    """Bytes, their name (the hash, without quotes; empty when clients are not told) and when they were made."""

    compressed: bytes
    size: int
    etag: str
    made: float

    @property
    def body(self) -> bytes:
        return zlib.decompress(self.compressed, _GZIP_WINDOW)


def of(body: bytes, *, made: float, etag: str | None = None) -> Content:
    """The content of a body, named by its own hash unless told otherwise."""
    compressor = zlib.compressobj(wbits=_GZIP_WINDOW)
    compressed = compressor.compress(body) + compressor.flush()
    return Content(compressed, len(body), hash_of(body) if etag is None else etag, made)


def hash_of(body: bytes) -> str:
    """The name of a body."""
    return hashlib.sha512(body).hexdigest().upper()


def respond(
    request: web.BaseRequest,
    context: RequestContext,
    content: Content,
    content_type: str,
    *,
    extra: Mapping[str, str],
    allows_gzip: bool = False,
) -> web.Response:
    """The content, the part that is asked for, or that the client has it."""
    fields = responses.headers(context, content_type)
    fields.update(extra)
    fields[hdrs.LAST_MODIFIED] = formatdate(int(content.made), usegmt=True)
    if content.etag:
        fields[hdrs.ETAG] = f'"{content.etag}"'
    status = _checked(request, content)
    if status is not None:
        for name in (hdrs.CONTENT_TYPE, hdrs.LAST_MODIFIED) if status == web.HTTPNotModified.status_code else ():
            fields.popall(name, None)
        return web.Response(status=status, headers=fields)
    fields[hdrs.ACCEPT_RANGES] = "bytes"
    wanted = _range(request, content)
    if wanted is not None:
        return _part(content, wanted, fields)
    if allows_gzip and _is_worth_gzip(request, content):
        fields[hdrs.CONTENT_ENCODING] = "gzip"
        return web.Response(body=content.compressed, headers=fields)
    return web.Response(body=content.body, headers=fields)


def _part(content: Content, wanted: range, fields: CIMultiDict[str]) -> web.Response:
    if not wanted:
        fields[hdrs.CONTENT_RANGE] = f"bytes */{content.size}"
        fields[hdrs.CONTENT_TYPE] = responses.TEXT
        fields[responses.NOSNIFF] = "nosniff"
        body = b"invalid range: failed to overlap\n"
        return web.Response(status=web.HTTPRequestRangeNotSatisfiable.status_code, body=body, headers=fields)
    fields[hdrs.CONTENT_RANGE] = f"bytes {wanted.start}-{wanted.stop - 1}/{content.size}"
    body = content.body[wanted.start : wanted.stop]
    return web.Response(status=web.HTTPPartialContent.status_code, body=body, headers=fields)


def _checked(request: web.BaseRequest, content: Content) -> int | None:
    """The status of an answer without content; None when there is to be one."""
    wanted, known = request.headers.get(hdrs.IF_MATCH), request.headers.get(hdrs.IF_NONE_MATCH)
    if wanted is not None and not _names(wanted, content, is_strong=True):
        return web.HTTPPreconditionFailed.status_code
    if known is not None:
        if not _names(known, content, is_strong=False):
            return None
        is_reading = request.method in _READING
        return (web.HTTPNotModified if is_reading else web.HTTPPreconditionFailed).status_code
    if request.method in _READING and not _is_newer(content, request.headers.get(hdrs.IF_MODIFIED_SINCE, "")):
        return web.HTTPNotModified.status_code
    return None


def _names(header: str, content: Content, *, is_strong: bool) -> bool:
    """Whether one of the entity tags is that of the content."""
    tags = [tag.strip() for tag in header.split(",")]
    if "*" in tags:
        return True
    if not is_strong:
        tags = [tag.removeprefix("W/") for tag in tags]
    return bool(content.etag) and f'"{content.etag}"' in tags


def _is_newer(content: Content, since: str) -> bool:
    try:
        return not since or int(content.made) > parsedate_to_datetime(since).timestamp()
    except ValueError:
        return True


def _range(request: web.BaseRequest, content: Content) -> range | None:
    """The bytes that are asked for: none at all when there are no such, None when all are."""
    found = _RANGE.fullmatch(request.headers.get(hdrs.RANGE, ""))
    condition = request.headers.get(hdrs.IF_RANGE)
    if found is None or (condition is not None and not _names(condition, content, is_strong=True)):
        return None
    first, last, suffix = found.groups()
    if suffix is not None:
        return range(max(content.size - int(suffix), 0), content.size)
    stop = min(int(last) + 1, content.size) if last else content.size
    return range(int(first), stop) if int(first) < stop else range(0)


def _is_worth_gzip(request: web.BaseRequest, content: Content) -> bool:
    """Whether to send what is kept as it is; an answer without a body says what it would be without."""
    if request.method == hdrs.METH_HEAD or content.size < _GZIP_FROM_BYTES:
        return False
    return takes_gzip(request.headers.get(hdrs.ACCEPT_ENCODING, ""))


def takes_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header allows gzip."""
    for coding in header.split(","):
        name, _, rest = coding.strip().partition(";")
        if name.strip().lower() == "gzip":
            return not rest or quality(rest.strip().removeprefix("q=")) > 0
    return False
