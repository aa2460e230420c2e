"""Resources: finds the handler for a request below /api/ and /apis/, by resource, subresource and verb.

One table has the verbs. It must not read the body or the options.

Must hold: an unknown path gets 404, and a known path without the verb 405, before the body is read.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from aiohttp import hdrs, web

from aio_apiserver.apiserver.handlers import (
    connect,
    create,
    delete,
    delete_collection,
    get,
    list,
    patch,
    update,
    watch,
)
from aio_apiserver.apiserver.metrics.requests import RequestMetrics
from aio_apiserver.apiserver.outgoing.backends import Backends
from aio_apiserver.apiserver.wire import negotiation, responses, route_errors
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.request_info import RequestInfo, Route
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.served import Served

Handle = Callable[[web.BaseRequest, RequestContext, Served[Any]], Awaitable[web.StreamResponse]]
Handlers = Mapping[str, Handle]
"""The handlers by verb."""


_DEPRECATED = "k8s.io/deprecated"
_REMOVED = "k8s.io/removed-release"
_NAMED = frozenset({"update", "patch", "delete"})
_OF_ONE = ("get", "update", "patch", "delete")
_STRICT = _NAMED | {"create"}
"""Verbs that need a name in the path, or must not have one."""

_OF_CUSTOM_SUBRESOURCES = frozenset({"get", "patch", "update"})
_ACROSS_NAMESPACES = frozenset({"list", "watch"})

_LONGEST = 3
"""The parts of a path from the resource on: resource, name, subresource. A proxy forwards the rest of the path; custom
resources ignore it.
"""

_FORWARDED = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})
"""The methods that a proxy subresource forwards."""
_ANSWERED = _FORWARDED - {"HEAD"}


class _Found(NamedTuple):
    """What serves the requests of one method and one route."""

    served: Served[Any]
    handle: Handle


class ResourceHandlers:
    """Serves the resources of all group versions below /api and /apis."""

    def __init__(
        self,
        served: ServedPaths,
        draining: Draining,
        requests: RequestMetrics,
        backends: Backends,
        *,
        min_watch_seconds: float,
        in_spans: Callable[[Handlers], Handlers] = dict,
    ) -> None:
        self._served = served
        self._connect = partial(connect.handle, backends=backends)
        self._roots = {f"/apis/{group}/" if group else "/api/" for group in served.fixed_groups}
        handlers: Handlers = {
            "get": get.handle,
            "list": list.handle,
            "watch": partial(watch.handle, draining=draining, requests=requests, min_seconds=min_watch_seconds),
            "create": create.handle,
            "update": update.handle,
            "patch": patch.handle,
            "delete": delete.handle,
            "deletecollection": delete_collection.handle,
        }
        self._handlers = in_spans(handlers)
        self._routes: dict[tuple[str, Route], _Found] = {}
        """What was found by method and route, for the present generation of served paths."""
        self._generation = served.generation

    def handle(self, request: web.BaseRequest, context: RequestContext) -> Awaitable[web.StreamResponse]:
        """Call the handler of the verb."""
        if self._generation != self._served.generation:
            self._generation = self._served.generation
            self._routes.clear()
        key = request.method, context.info.route
        route = self._routes.get(key) or self._find(key, context.info)
        return self._missing(context) if route is None else route.handle(request, context, route.served)

    def _find(self, key: tuple[str, Route], info: RequestInfo) -> "_Found | None":
        """What serves a request, remembered for others alike; None for a path that is not served. Raises StatusError
        for a method that the path does not have.
        """
        path = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
        served = self._served.get((info.group, info.version, path))
        if served is None:
            return None
        takes_path = served.kind.is_custom or (served.connects and served.storage.takes_paths)
        if len(info.parts) > _LONGEST and not takes_path:
            return None
        found = self._routes[key] = _Found(served, self._handler_of(key[0], info, served))
        return found

    def _handler_of(self, method: str, info: RequestInfo, served: Served[Any]) -> Handle:
        if served.kind.is_custom:
            return self._handle_custom
        _check_scope(info, served)
        if served.connects:
            return self._handle_connection
        _check_route(method, info)
        handle = self._handlers.get(info.verb)
        is_offered = info.verb in served.verbs
        if handle is None or not (is_offered or (info.verb == "watch" and "list" in served.verbs)):
            raise route_errors.RouteMethodNotAllowed
        offered = handle if is_offered else watch.refuse
        return partial(_warned, offered) if served.deprecation else offered

    async def _handle_connection(
        self, request: web.BaseRequest, context: RequestContext, served: Served[Any]
    ) -> web.StreamResponse:
        """The same for subresources of the connect verb."""
        if context.info.verb not in served.storage.verbs or not context.info.name:
            raise route_errors.RouteMethodNotAllowed
        if request.method not in (_FORWARDED if served.storage.takes_paths else _ANSWERED):
            raise route_errors.RouteMethodNotAllowed
        return await self._connect(request, context, served)

    async def _handle_custom(
        self, request: web.BaseRequest, context: RequestContext, served: Served[Any]
    ) -> web.StreamResponse:
        """The same for custom resources. In kube-apiserver one handler serves all their paths, so the errors differ."""
        info = context.info
        if not _fits_scope(info, served.kind):
            return responses.not_found(context)
        if served.deprecation:
            context.warnings.add(served.deprecation)
            context.annotate_at_end(_DEPRECATED, "true")
        handle = self._handlers.get(info.verb)
        if handle is None or info.verb not in (_OF_CUSTOM_SUBRESOURCES if info.subresource else served.kind.verbs):
            raise errors.MethodNotSupported(served.resource, info.verb)
        if info.verb in _NAMED and not info.name:
            if info.verb == "patch":
                patch.patch_type(request.headers.get(hdrs.CONTENT_TYPE, ""), served.kind)
            raise errors.BadRequest("name must be provided")
        return await handle(request, context, served)

    async def _missing(self, context: RequestContext) -> web.StreamResponse:
        """A Status below a built-in group, a plain text below other paths."""
        info = context.info
        custom = self._served.get((info.group, info.version, info.resource)) if info.subresource else None
        if custom is not None and custom.kind.is_custom and _fits_scope(info, custom.kind):
            raise errors.NotFound(custom.resource, info.name)
        if any(context.path.startswith(root) for root in self._roots):
            raise route_errors.RouteNotFound
        return responses.not_found(context)


def _warned(
    handle: Handle, request: web.BaseRequest, context: RequestContext, served: Served[Any]
) -> Awaitable[web.StreamResponse]:
    """Handle a request for a deprecated version, with its warning."""
    if _has_route(request, context.info.verb, served.kind):
        context.warnings.add(served.deprecation)
        context.annotate_at_end(_DEPRECATED, "true")
        if served.removed_release:
            context.annotate_at_end(_REMOVED, served.removed_release)
    return handle(request, context, served)


def _fits_scope(info: RequestInfo, kind: Kind) -> bool:
    """Whether the path of a custom resource has a namespace, or none, as its scope demands."""
    if info.namespace:
        return kind.is_namespaced
    return not kind.is_namespaced or info.verb in _ACROSS_NAMESPACES


def _has_route(request: web.BaseRequest, verb: str, kind: Kind) -> bool:
    """Whether kube-apiserver has a route for the media types of a request. Otherwise it gives no warning."""
    if verb == "patch" and not patch.has_route(request.headers.get(hdrs.CONTENT_TYPE, ""), kind):
        return False
    return negotiation.is_served(request.headers.get(hdrs.ACCEPT, ""))


def _check_scope(info: RequestInfo, served: Served[Any]) -> None:
    """Check that a path has a namespace, or none, as the scope of the resource demands.

    Authorization was decided for the namespace of the path, or for all where it is empty: a handler must not reach
    objects outside of it. A storage of a namespaced kind finds none without a namespace.
    """
    if not served.kind.is_namespaced:
        is_itself = info.resource == "namespaces" and info.namespace == info.name
        if info.has_namespace and not is_itself:
            raise route_errors.RouteNotFound
    elif not info.has_namespace and info.verb not in _ACROSS_NAMESPACES:
        raise (
            route_errors.RouteMethodNotAllowed
            if "list" in served.verbs and not info.name
            else route_errors.RouteNotFound
        )
    elif not info.has_namespace and len(info.parts) > 1:
        raise route_errors.RouteNotFound
    if len(info.parts) > 1 and not info.subresource and served.verbs.isdisjoint(_OF_ONE):
        raise route_errors.RouteNotFound


def _check_route(method: str, info: RequestInfo) -> None:
    """Check that the method, the name and the subresource form a route."""
    if info.verb == "proxy" or (info.verb == "watch" and info.subresource):
        raise route_errors.RouteNotFound
    if method == hdrs.METH_HEAD or (info.verb == "watch" and method != hdrs.METH_GET):
        raise route_errors.RouteMethodNotAllowed
    if info.verb in _STRICT and not info.subresource and bool(info.name) is not (info.verb in _NAMED):
        raise route_errors.RouteMethodNotAllowed
