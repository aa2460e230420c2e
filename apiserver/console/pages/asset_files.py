"""asset_files: the pages, scripts and styles of the console, read from the package and served with an ETag.

Must hold: no path outside of the folder is read, because the folder is listed once and requests choose from the list.
A browser asks again at each use, and gets 304 while a file is the same.
"""

import gzip
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from aiohttp import hdrs, web
from msgspec import Struct

from aio_apiserver.apiserver.console.pages.page_headers import page_headers
from aio_apiserver.apiserver.wire import responses
from aio_apiserver.apiserver.wire.context import RequestContext

FOLDER = Path(__file__).parents[1] / "assets"
START_PAGE = "index.html"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}


class AssetFile(Struct, frozen=True):
    """One file, as it is sent."""

    content_type: str
    etag: str
    data: bytes
    packed: bytes
    """The same data, compressed with gzip."""


@cache
def asset_names() -> Mapping[str, Path]:
    """The files by their path below /ui/."""
    return {str(path.relative_to(FOLDER)): path for path in FOLDER.rglob("*") if path.suffix in _TYPES}


@cache
def asset(name: str) -> AssetFile:
    """One file. Raises KeyError."""
    path = asset_names()[name]
    data = path.read_bytes()
    tag = hashlib.sha256(data).hexdigest()[:32]
    return AssetFile(_TYPES[path.suffix], f'"{tag}"', data, gzip.compress(data, mtime=0))


def respond_asset(request: web.BaseRequest, context: RequestContext, name: str) -> web.Response:
    """The file at a path below /ui/; 404 for other paths, 405 for other methods than GET and HEAD."""
    if request.method not in (hdrs.METH_GET, hdrs.METH_HEAD):
        return responses.text(context, "405 method not allowed\n", status=405)
    try:
        found = asset(name or START_PAGE)
    except KeyError:
        return responses.not_found(context)
    headers = page_headers(context, found.content_type)
    headers[hdrs.CACHE_CONTROL] = "no-cache"
    headers[hdrs.ETAG] = found.etag
    headers[hdrs.VARY] = hdrs.ACCEPT_ENCODING
    if request.headers.get(hdrs.IF_NONE_MATCH) == found.etag:
        return web.Response(status=304, headers=headers)
    if "gzip" in request.headers.get(hdrs.ACCEPT_ENCODING, ""):
        headers[hdrs.CONTENT_ENCODING] = "gzip"
        return web.Response(body=found.packed, headers=headers)
    return web.Response(body=found.data, headers=headers)
