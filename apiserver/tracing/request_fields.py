"""request_fields: the attributes of a request's spans, with kube-apiserver's names and those of OpenTelemetry.

Pure. Must hold: no body and no header is among them but Accept and User-Agent.
"""

from collections.abc import Iterator

from aiohttp import hdrs, web

from aio_apiserver.apiserver.metrics import requests
from aio_apiserver.apiserver.wire import request_sources
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.request_info import RequestInfo
from aio_apiserver.base.tracing import Attribute, Attributes

_DEFAULT_PORTS = {"http": 80, "https": 443}


def of_handler(request: web.BaseRequest, context: RequestContext) -> Attributes:
    """The attributes of the spans Create, List and so on."""
    info = context.info
    return {
        "accept": request.headers.get(hdrs.ACCEPT, ""),
        "audit-id": context.audit_id,
        "client": next(request_sources.addresses(request), "unknown"),
        "api-group": info.group,
        "api-version": info.version,
        "name": info.name,
        "subresource": info.subresource,
        "namespace": info.namespace,
        "protocol": _protocol(request),
        "resource": info.resource,
        "scope": _scope(info),
        "url": context.path or info.path,
        "user-agent": request_sources.user_agent(request),
        "verb": requests.verb_of(request.method, info, request.headers.get(hdrs.CONTENT_TYPE, "")),
    }


def of_request(request: web.BaseRequest, context: RequestContext) -> Attributes:
    """The attributes of the span around the whole request."""
    return dict(_of_request(request, context))


def _of_request(request: web.BaseRequest, context: RequestContext) -> Iterator[tuple[str, Attribute]]:
    scheme = "https" if request.secure else "http"
    host, port = _split(request.headers.get(hdrs.HOST, ""))
    yield "server.address", host
    yield "http.request.method", request.method
    yield "url.scheme", scheme
    if port and port != _DEFAULT_PORTS[scheme]:
        yield "server.port", port
    peer = request.transport.get_extra_info("peername") if request.transport is not None else None
    if peer:
        yield "network.peer.address", peer[0]
        yield "network.peer.port", peer[1]
    if agent := request_sources.user_agent(request):
        yield "user_agent.original", agent
    yield "client.address", next(request_sources.addresses(request), "")
    yield "url.path", context.path or context.info.path
    yield "network.protocol.version", _protocol(request).partition("/")[2]
    if request.content_length:
        yield "http.request.body.size", request.content_length
    yield "http.target", request.raw_path
    yield "audit-id", context.audit_id


def name_of(method: str, info: RequestInfo) -> str:
    """The name of the span around the whole request: its route, without names of objects."""
    if not info.is_resource:
        return method
    path = f"/{info.prefix}" + (f"/{info.group}" if info.group else "") + f"/{info.version}"
    path += ("/namespaces/{:namespace}" if info.namespace else "") + f"/{info.resource}"
    path += ("/{:name}" if info.name else "") + (f"/{info.subresource}" if info.subresource else "")
    return f"{method} {path}"


def _scope(info: RequestInfo) -> str:
    if info.name or info.verb == "create":
        return "resource"
    if info.namespace:
        return "namespace"
    return "cluster" if info.is_resource else ""


def _protocol(request: web.BaseRequest) -> str:
    return f"HTTP/{request.version.major}.{request.version.minor}"


def _split(host: str) -> tuple[str, int]:
    name, _, port = host.rpartition(":")
    if not port.isdecimal() or (":" in name and not name.endswith("]")):
        return host.strip("[]"), 0
    return name.strip("[]"), int(port)
