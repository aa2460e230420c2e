"""OpenAPI: /openapi/v2 and /openapi/v3, the schemas of the served resources.

The modules that make the documents are imported at the first request. Must hold: every method gets the response of GET.
An address with the hash of a document may be cached for ever; an address with another hash redirects to the present
one.
"""

from collections.abc import Callable, Mapping, Sequence
from email.utils import formatdate
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from aiohttp import hdrs, web

from aio_apiserver.apiserver.endpoints import compressed_documents
from aio_apiserver.apiserver.endpoints.compressed_documents import Content
from aio_apiserver.apiserver.endpoints.remote_versions import RemoteVersions
from aio_apiserver.apiserver.wire import negotiation, responses
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.machinery.schema import Catalog

if TYPE_CHECKING:
    from aio_apiserver.apiserver.endpoints.openapi_documents import OpenAPIDocuments

VERSION2 = "/openapi/v2"
VERSION3 = "/openapi/v3"
_PROTOBUF = "application/com.github.proto-openapi.spec.{version}.v1.0+protobuf"
_OLD_PROTOBUF = "application/com.github.proto-openapi.spec.{version}@v1.0+protobuf"
_YEAR_SECONDS = 365 * 86400
_VARY_ACCEPT: Mapping[str, str] = {hdrs.VARY: hdrs.ACCEPT}
_VARY_BOTH: Mapping[str, str] = {hdrs.VARY: f"{hdrs.ACCEPT_ENCODING}, {hdrs.ACCEPT}"}


class _Form(NamedTuple):
    """A media type of a request, and the media type of its response."""

    media_type: str
    answered: str
    is_protobuf: bool = False


_FORMS2 = (
    _Form(responses.JSON, responses.JSON),
    _Form(_OLD_PROTOBUF.format(version="v2"), _PROTOBUF.format(version="v2"), True),
    _Form(_PROTOBUF.format(version="v2"), _PROTOBUF.format(version="v2"), True),
)
_FORMS3 = (
    _Form(responses.JSON, responses.JSON),
    _Form(_PROTOBUF.format(version="v3"), _PROTOBUF.format(version="v3"), True),
    _Form(_OLD_PROTOBUF.format(version="v3"), _PROTOBUF.format(version="v3"), True),
)


class OpenAPI:
    """The handlers of all paths below /openapi."""

    def __init__(self, make: "Callable[[], OpenAPIDocuments]", clock: Clock) -> None:
        self._make = make
        self._clock = clock

    @cached_property
    def _documents(self) -> "OpenAPIDocuments":
        return self._make()

    @property
    def exact(self) -> Mapping[str, Handler]:
        return {VERSION2: self._version2, VERSION3: self._index}

    @property
    def prefixes(self) -> Mapping[str, Handler]:
        return {f"{VERSION3}/": self._version3}

    async def _version2(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        chosen = _chosen(request, _FORMS2)
        if chosen is None:
            return _empty(context, 406, _VARY_BOTH)
        content = await self._documents.version2(is_protobuf=chosen.is_protobuf)
        return compressed_documents.respond(
            request, context, content, chosen.answered, extra=_VARY_BOTH, allows_gzip=True
        )

    async def _index(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        return compressed_documents.respond(request, context, await self._documents.index(), responses.TEXT, extra={})

    async def _version3(self, request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        path = context.path.removeprefix(f"{VERSION3}/")
        if not self._documents.has(path):
            return _empty(context, 404, {})
        chosen = _chosen(request, _FORMS3)
        if chosen is None:
            is_readable = negotiation.parse_accept(request.headers.get(hdrs.ACCEPT, ""))
            return _empty(context, 406 if is_readable else 200, _VARY_ACCEPT)
        content = await self._documents.version3(path, is_protobuf=chosen.is_protobuf)
        return self._hashed(request, context, path, content, chosen)

    def _hashed(
        self, request: web.BaseRequest, context: RequestContext, path: str, content: Content, chosen: _Form
    ) -> web.StreamResponse:
        """Serve the document, or redirect when the hash in the address is not the present one."""
        wanted = context.query.get("hash", ("",))[0]
        if not wanted:
            return compressed_documents.respond(request, context, content, chosen.answered, extra=_VARY_ACCEPT)
        if wanted == content.etag:
            expires = formatdate(self._clock.now() + _YEAR_SECONDS, usegmt=True)
            extra: dict[str, str] = {**_VARY_ACCEPT, hdrs.CACHE_CONTROL: "public, immutable", hdrs.EXPIRES: expires}
            return compressed_documents.respond(request, context, content, chosen.answered, extra=extra)
        fields = responses.headers(context, chosen.answered)
        fields.update(
            {**_VARY_ACCEPT, hdrs.ETAG: f'"{content.etag}"', hdrs.LOCATION: self._documents.address(path, content.etag)}
        )
        return web.Response(status=301, headers=fields)


def of(served: ServedPaths, remote: RemoteVersions, types: Catalog, clock: Clock) -> OpenAPI:
    """The handlers for the resources of this server and of aggregated servers."""

    def make() -> "OpenAPIDocuments":
        from aio_apiserver.apiserver.endpoints import openapi_documents, openapi_sources

        return openapi_documents.OpenAPIDocuments(openapi_sources.of(served, types), remote, types, clock)

    return OpenAPI(make, clock)


def _chosen(request: web.BaseRequest, forms: Sequence[_Form]) -> _Form | None:
    for clause in negotiation.parse_accept(request.headers.get(hdrs.ACCEPT, "") or "*/*"):
        for form in forms:
            main, _, sub = form.media_type.partition("/")
            if clause.type in (main, "*") and clause.subtype in (sub, "*"):
                return form
    return None


def _empty(context: RequestContext, status: int, extra: Mapping[str, str]) -> web.Response:
    fields = responses.headers(context, responses.JSON)
    del fields[hdrs.CONTENT_TYPE]
    fields.update(extra)
    return web.Response(status=status, headers=fields)
