"""Responses: objects, texts and errors as HTTP responses with kube-apiserver's headers.

A StatusError becomes a Status object in the client's format. The most usual responses are written by single_write.py,
which takes its headers from here.

Must hold: every response has Audit-Id and Cache-Control.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
from aiohttp import hdrs, web
from aiohttp.payload import Payload
from multidict import CIMultiDict

from aio_apiserver.apiserver.wire import negotiation
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.negotiation import Format
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.machinery.serializers import protobuf, yaml

JSON = "application/json"
TEXT = "text/plain; charset=utf-8"
NOSNIFF = "X-Content-Type-Options"
FAULT = "X-Injected-Fault"
_FLOW_SCHEMA = "X-Kubernetes-Pf-Flowschema-Uid"
_PRIORITY_LEVEL = "X-Kubernetes-Pf-Prioritylevel-Uid"
_CACHE_CONTROL = "no-cache, private"
_AUDIT_ID = "Audit-Id"
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})


def headers(context: RequestContext, content_type: str) -> CIMultiDict[str]:
    """The headers of every response, streams included."""
    fields = CIMultiDict(
        ((_AUDIT_ID, context.audit_id), (hdrs.CACHE_CONTROL, _CACHE_CONTROL), (hdrs.CONTENT_TYPE, content_type))
    )
    if context.flow is not None:
        fields[_FLOW_SCHEMA], fields[_PRIORITY_LEVEL] = context.flow
    if context.fault:
        fields[FAULT] = context.fault
    for warning in context.warnings.headers():
        fields.add(hdrs.WARNING, warning)
    return fields


def raw(context: RequestContext, body: bytes | Payload, *, status: int = 200, content_type: str = JSON) -> web.Response:
    """A response with this body."""
    return web.Response(body=body, status=status, headers=headers(context, content_type))


def text(context: RequestContext, body: str, *, status: int = 200) -> web.Response:
    """A plain text. `nosniff` tells browsers not to guess another type."""
    response = raw(context, body.encode(errors="surrogateescape"), status=status, content_type=TEXT)
    response.headers[NOSNIFF] = "nosniff"
    return response


def not_found(context: RequestContext) -> web.Response:
    """The response for a path that is not served."""
    return text(context, "404 page not found\n", status=404)


def json(
    request: web.BaseRequest, context: RequestContext, value: dict[str, Any], *, status: int = 200
) -> web.Response:
    """An object as JSON, indented for browsers and curl."""
    return raw(context, dump(value, is_pretty=is_pretty(context)), status=status)


def error(request: web.BaseRequest, context: RequestContext, failure: StatusError) -> web.Response:
    """A failure as its Status in the client's format; as JSON when the client accepts no format of ours."""
    chosen = record(request, context, failure)
    if chosen is not None and chosen.media_type == media_types.YAML:
        body = _dumped(yaml.dump, failure.status())
        response = raw(context, body, status=failure.code, content_type=media_types.YAML)
    elif chosen is not None and chosen.media_type == media_types.PROTOBUF:
        body = _dumped(partial(protobuf.dump, types=builtin()), failure.status())
        response = raw(context, body, status=failure.code, content_type=media_types.PROTOBUF)
    else:
        is_indented = chosen is None or chosen.is_pretty or is_pretty(context)
        body = dump(failure.status(), is_pretty=is_indented)
        response = raw(context, body, status=failure.code)
    if failure.retry_after_seconds:
        response.headers[hdrs.RETRY_AFTER] = str(failure.retry_after_seconds)
    return response


def record(request: web.BaseRequest, context: RequestContext, failure: StatusError) -> Format | None:
    """The format of a failure's Status, which is recorded; None, and as in kube-apiserver no record, when the client
    accepts no format of ours.
    """
    accept = request.headers.get(hdrs.ACCEPT, "")
    chosen = negotiation.negotiate(accept, media_types.OF_OBJECTS, negotiation.allows_nothing_else)
    if context.trail is not None and chosen is not None:
        context.trail.answered(failure.status())
    return chosen


def dump(value: dict[str, Any], *, is_pretty: bool) -> bytes:
    """JSON in one of kube-apiserver's two forms: one line with a newline, or indented without."""
    option = orjson.OPT_INDENT_2 if is_pretty else orjson.OPT_APPEND_NEWLINE
    return _dumped(partial(orjson.dumps, option=option), value)


def _dumped(dump: Callable[[dict[str, Any]], bytes], value: dict[str, Any]) -> bytes:
    """The serialized value. Texts that are not valid UTF-8 are repaired."""
    try:
        return dump(value)
    except (TypeError, UnicodeEncodeError):
        return dump(_written(value))


def _written(value: Any) -> Any:
    """The value with invalid UTF-8, which requests may bring, replaced as Go's JSON encoder does."""
    if isinstance(value, str):
        return value.encode(errors="surrogateescape").decode(errors="replace")
    if isinstance(value, dict):
        return {key: _written(one) for key, one in value.items()}
    return [_written(one) for one in value] if isinstance(value, list) else value


def is_pretty(context: RequestContext) -> bool:
    """Whether to indent JSON: by `pretty` in the query, else by the User-Agent."""
    values = context.query.get("pretty")
    if values and values[0]:
        return values[0] in _TRUE
    return context.head.is_of_people
