"""Discovery: /api, /apis, and the documents of each group and version below them, with aggregated discovery.

Built-in documents do not change; those of custom resources and remote versions change with them. Below /apis/,
routing.py looks for a document here before it calls the resources.

Must hold: a document is made once for each state of the served resources. An aggregated document has an ETag, and a
client that has it gets 304.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, Generic, TypeVar

from aiohttp import hdrs, web

from aio_apiserver.apiserver.endpoints import compressed_documents, remote_groups
from aio_apiserver.apiserver.endpoints import discovery_documents as documents
from aio_apiserver.apiserver.endpoints.discovery_documents import DiscoveryGroup, Document
from aio_apiserver.apiserver.endpoints.remote_versions import RemoteVersion, RemoteVersions
from aio_apiserver.apiserver.handlers import output
from aio_apiserver.apiserver.wire import negotiation, responses, route_errors
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.negotiation import ConversionTarget
from aio_apiserver.apiserver.wire.single_write import SingleWriteResponse
from aio_apiserver.base.measures import Counter
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.controlplane.served_paths import ServedGroups, ServedPaths
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.groups.apiregistration.provider import GROUP as APIREGISTRATION
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.schema import builtin

_AGGREGATED = ConversionTarget("apidiscovery.k8s.io", "v2", "APIGroupDiscoveryList")
_AGGREGATED_SUFFIX = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


T_co = TypeVar("T_co", covariant=True)
U = TypeVar("U")


class _Current(Generic[T_co]):
    """A document, made once for each generation of the served resources."""

    def __init__(self, published: "_Published", make: Callable[[], T_co]) -> None:
        self._published = published
        self._make = make
        self._generation = (-1, -1)

    def get(self) -> T_co:
        generation = self._published.generation
        if self._generation != generation:
            self._made, self._generation = self._make(), generation
        return self._made

    def then(self, make: Callable[[T_co], U]) -> "_Current[U]":
        """A document that is made from this one."""
        return _Current(self._published, lambda: make(self.get()))


class _Published:
    """The groups and versions in discovery: those of this server and those of aggregated servers."""

    def __init__(self, served: ServedPaths, remote: RemoteVersions) -> None:
        self._served = served
        self._remote = remote

    @property
    def generation(self) -> tuple[int, int]:
        return self._served.generation, self._remote.generation

    def groups(self) -> Sequence[DiscoveryGroup]:
        """The groups with a name: all but the core group."""
        own = {name: one for name, one in self._served.told_groups.items() if name}
        return remote_groups.merged(_groups(own), self._remote.by_version.values())


def handlers(served: ServedPaths, remote: RemoteVersions, made: Counter) -> Mapping[str, Handler]:
    """The handlers of /api, /apis and the core group, each with and without a trailing slash.

    made: counts how often the aggregated document is made.
    """
    core = _groups({name: versions for name, versions in served.fixed_groups.items() if not name})
    published = _Published(served, remote)
    others = _Current(published, published.groups)
    group_list = others.then(documents.api_group_list)
    paths = {
        "/api": _restful(_root(_Current(published, lambda: core), documents.api_versions, Counter())),
        "/apis": _root(others, lambda _address: group_list.get(), made),
    }
    for group in core:
        paths |= _handlers_of(group)
    return _with_slashes(paths)


class GroupDocuments:
    """The documents of each group and version below /apis/, as they are served now."""

    def __init__(self, served: ServedPaths, remote: RemoteVersions) -> None:
        published = _Published(served, remote)
        self._handlers = _Current(
            published,
            lambda: _with_slashes(
                {path: handler for group in published.groups() for path, handler in _handlers_of(group).items()}
            ),
        )

    def handler_of(self, path: str) -> Handler | None:
        """The handler of a document; None for a path without one."""
        return self._handlers.get().get(path)

    def paths(self) -> Sequence[str]:
        """The paths of all documents."""
        return list(self._handlers.get())


def _groups(groups: ServedGroups) -> Sequence[DiscoveryGroup]:
    return [DiscoveryGroup(name, versions) for name, versions in groups.items()]


def _handlers_of(group: DiscoveryGroup) -> dict[str, Handler]:
    paths: dict[str, Handler] = {}
    if group.name:
        handler = _plain(partial(documents.api_group, group))
        paths[f"/apis/{group.name}"] = _restful(handler) if group.name == APIREGISTRATION else handler
    root = f"/apis/{group.name}" if group.name else "/api"
    for version, resources in group.versions.items():
        if not isinstance(resources, RemoteVersion):
            handler = _plain(partial(documents.api_resource_list, group, version))
            paths[f"{root}/{version}"] = handler if _is_custom(resources) else _restful(handler)
    return paths


def _is_custom(resources: Mapping[str, Served[Any]]) -> bool:
    """Whether all resources of a version are custom. Their documents are served for every method."""
    return all(served.kind.is_custom for served in resources.values())


def _with_slashes(paths: Mapping[str, Handler]) -> dict[str, Handler]:
    return {**paths, **{f"{path}/": handler for path, handler in paths.items()}}


def _plain(make: Callable[[], Document]) -> Handler:
    made = cache(make)

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        chosen = _negotiated(request)
        return await output.respond_value(request, context, made(), chosen, types=builtin())

    return handle


def _root(groups: _Current[Sequence[DiscoveryGroup]], make: Callable[[str], Document], made: Counter) -> Handler:
    def aggregate(of: Sequence[DiscoveryGroup]) -> Document:
        made.add()
        return documents.discovery_list(of)

    aggregated = groups.then(aggregate)

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        accept = request.headers.get(hdrs.ACCEPT, "")
        wanted = negotiation.negotiate_target(accept, media_types.OF_OBJECTS, _AGGREGATED)
        if wanted is not None:
            return await _aggregated(request, context, aggregated.get(), wanted)
        chosen = _negotiated(request)
        return await output.respond_value(request, context, make(_address(request)), chosen, types=builtin())

    return handle


def _address(request: web.BaseRequest) -> str:
    """The address of this server on the connection. Raises ConnectionResetError when the client has disconnected."""
    address = request.get_extra_info("sockname")
    if address is None:
        raise ConnectionResetError("the client has disconnected")
    host, port = address[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _restful(handler: Handler) -> Handler:
    """The handler of a built-in path: other methods than GET get 405, and unsupported media types 406.

    The document of a group is such a path for the aggregator's own group alone.
    """

    async def handle(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        if request.method != hdrs.METH_GET:
            raise route_errors.RouteMethodNotAllowed
        if not negotiation.is_served(request.headers.get(hdrs.ACCEPT, "")):
            raise route_errors.RouteNotAcceptable(media_types.OF_OBJECTS)
        return await handler(request, context)

    return handle


def _negotiated(request: web.BaseRequest) -> negotiation.Format:
    accept = request.headers.get(hdrs.ACCEPT, "")
    chosen = negotiation.negotiate(accept, media_types.OF_OBJECTS, negotiation.allows_nothing_else)
    if chosen is None:
        raise errors.NotAcceptable(media_types.OF_OBJECTS)
    return chosen


async def _aggregated(
    request: web.BaseRequest, context: RequestContext, document: Document, chosen: negotiation.Format
) -> web.StreamResponse:
    etag = f'"{compressed_documents.hash_of(responses.dump(document, is_pretty=False))}"'
    if request.headers.get(hdrs.IF_NONE_MATCH) == etag:
        response: web.StreamResponse = web.Response(status=304, headers=responses.headers(context, responses.JSON))
        del response.headers[hdrs.CONTENT_TYPE]
    else:
        answer = await output.respond_value(request, context, document, chosen, types=builtin())
        response = answer.changeable() if isinstance(answer, SingleWriteResponse) else answer
        response.headers[hdrs.CONTENT_TYPE] = chosen.media_type + _AGGREGATED_SUFFIX
    response.headers[hdrs.VARY] = hdrs.ACCEPT
    response.headers[hdrs.ETAG] = etag
    response.headers[hdrs.CACHE_CONTROL] = "public"
    return response
