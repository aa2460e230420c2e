"""httplog: one log line for each request, with the fields of kube-apiserver's httplog, at -v=3 and above.

`--vmodule=httplog=3` switches it on alone. The User-Agent is logged. Other headers and bodies are not,
since they may hold secrets.
"""

import logging

from aiohttp import hdrs, web
from msgspec.structs import replace

from aio_apiserver.apiserver.config import logs
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.metrics import requests
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.watch_responses import until_ended
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base.golang import durations

logger = logging.getLogger(__name__)

_VERBOSITY = 3
_MODULE = "httplog"
_SWITCHING = 101
_LAST = ("addedInfo",)


def is_wanted(settings: Settings) -> bool:
    """Whether requests are logged."""
    return max(settings.v, logs.ModuleLevels(settings.vmodule).of(_MODULE)) >= _VERBOSITY


def with_http_logging(handler: Handler, clock: Clock) -> Handler:
    """Log each request at its end."""

    async def logged(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        status = 0
        more: dict[str, object] = {}
        try:
            response = await handler(request, replace(context, log_fields=more))
            await until_ended(response)
            status = response.status
            return response
        finally:
            last = {name: more.pop(name) for name in _LAST if name in more}
            fields: logs.Fields = {
                **_of_request(request, context, clock.monotonic() - context.received),
                **more,
                **({"hijacked": True} if status == _SWITCHING else {"resp": status, **last}),
            }
            logger.info("HTTP", extra=logs.fielded(_VERBOSITY, fields))

    return logged


def with_execution_time(handler: Handler, clock: Clock) -> Handler:
    """Add the time that a request takes after flow control to its log line."""

    async def timed(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        fields, begin, began = context.log_fields, context.on_started, clock.monotonic()
        if not fields or "apf_pl" not in fields:
            return await handler(request, context)

        def ended(*names: str) -> None:
            for name in names:
                fields.setdefault(name, durations.show(clock.monotonic() - began))

        def begun() -> None:
            """Report that a watch has begun: flow control counts no more of it."""
            ended("apf_init_latency", "apf_execution_time")
            if begin is not None:
                begin()

        try:
            return await handler(request, replace(context, on_started=begun) if begin is not None else context)
        finally:
            ended("apf_execution_time")

    return timed


def _of_request(request: web.BaseRequest, context: RequestContext, seconds: float) -> logs.Fields:
    return {
        "verb": requests.verb_of(request.method, context.info, request.headers.get(hdrs.CONTENT_TYPE, "")),
        "URI": request.raw_path,
        "latency": durations.show(seconds),
        "userAgent": request.headers.get(hdrs.USER_AGENT, ""),
        "audit-ID": context.audit_id,
        "srcIP": _peer(request),
    }


def _peer(request: web.BaseRequest) -> str:
    """The address and port of the client; empty when it has disconnected."""
    peer = request.transport.get_extra_info("peername") if request.transport is not None else None
    if not peer:
        return ""
    host, port, *_ = peer
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
