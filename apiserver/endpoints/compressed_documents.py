"""Compressed documents: serves bytes with an ETag as Go's net/http serves files: conditional requests, one range, gzip.

The bodies are kept compressed. Must hold: a client that accepts gzip gets the compressed bytes unchanged. A client
whose condition matches gets no body.
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
from aio_apiserver.apiserver.wire.decompressed_bodies import PIECE_BYTES, DecompressedBody
from aio_apiserver.apiserver.wire.negotiation import quality

_GZIP_WINDOW = 31
_GZIP_FROM_BYTES = 1400
_RANGE = re.compile(r"bytes=(?:(\d+)-(\d*)|-(\d+))")
_READING = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})


class Content(Struct, frozen=True):
    """A body with its ETag (the hash, without quotes; empty for none) and the time at which it was made."""

    compressed: bytes
    size: int
    etag: str
    made: float

    @property
    def body(self) -> bytes:
        return zlib.decompress(self.compressed, _GZIP_WINDOW)


def of(body: bytes, *, made: float, etag: str | None = None) -> Content:
    """The content of a body. Its ETag is its hash, if no other one is given."""
    compressor = zlib.compressobj(wbits=_GZIP_WINDOW)
    compressed = compressor.compress(body) + compressor.flush()
    return Content(compressed, len(body), hash_of(body) if etag is None else etag, made)


def hash_of(body: bytes) -> str:
    """The ETag of a body, without quotes."""
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
    """The content, the requested range of it, or a status without content."""
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
    return web.Response(body=_plain(content, range(content.size)), headers=fields)


def _plain(content: Content, part: range) -> bytes | DecompressedBody:
    """A part of the body without compression."""
    is_short = content.size <= PIECE_BYTES
    return content.body[part.start : part.stop] if is_short else DecompressedBody(content.compressed, part)


def _part(content: Content, wanted: range, fields: CIMultiDict[str]) -> web.Response:
    if not wanted:
        fields[hdrs.CONTENT_RANGE] = f"bytes */{content.size}"
        fields[hdrs.CONTENT_TYPE] = responses.TEXT
        fields[responses.NOSNIFF] = "nosniff"
        body = b"invalid range: failed to overlap\n"
        return web.Response(status=web.HTTPRequestRangeNotSatisfiable.status_code, body=body, headers=fields)
    fields[hdrs.CONTENT_RANGE] = f"bytes {wanted.start}-{wanted.stop - 1}/{content.size}"
    return web.Response(status=web.HTTPPartialContent.status_code, body=_plain(content, wanted), headers=fields)


def _checked(request: web.BaseRequest, content: Content) -> int | None:
    """The status of a response without content; None for a response with content."""
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
    """Whether one of the entity tags matches the content."""
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
    """The requested bytes: an empty range when the content lacks them, None for the whole content."""
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
    """Whether to send the compressed bytes. The response to HEAD describes the body without compression."""
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
