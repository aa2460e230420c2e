"""Measuring: counts each request that reaches a handler, at its end, with its code, duration and size.

It is the innermost filter of the product. Deadlines and flow control count the requests that they end.
"""

from functools import partial
from http import HTTPStatus

from aiohttp import hdrs, web
from aiohttp.payload import Payload

from aio_apiserver.apiserver.metrics.requests import RequestMetrics, RequestRecorder
from aio_apiserver.apiserver.wire.context import Handler, RequestContext
from aio_apiserver.apiserver.wire.single_write import SingleWriteResponse
from aio_apiserver.apiserver.wire.watch_responses import when_ended
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base.errors import StatusError

_UNANSWERED = 0
"""The code of a request that was cancelled before its response: its client disconnected, or its deadline was over."""


def with_measuring(handler: Handler, requests: RequestMetrics, clock: Clock) -> Handler:
    """Count requests and their responses."""

    async def measured(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
        content_type = request.headers.get(hdrs.CONTENT_TYPE, "") if context.info.verb == "patch" else ""
        recorder = requests.recorder_of(context.info, context.query, content_type)
        if recorder is None:
            return await handler(request, context)
        if recorder.running is not None:
            return await _long_running(request, context, handler, recorder, clock)
        if recorder.bodies is not None and request.content_length is not None:
            recorder.bodies.observe(request.content_length)
        status, size = _UNANSWERED, 0
        try:
            response = await handler(request, context)
            status = response.status
            size = len(response.bytes) if type(response) is SingleWriteResponse else _size_of(response)
            return response
        except StatusError as failure:
            status = failure.code
            raise
        except Exception:
            status = 500
            raise
        finally:
            if status != _UNANSWERED:
                recorder.record(status, clock.monotonic() - context.received, size)

    return measured


async def _long_running(
    request: web.BaseRequest, context: RequestContext, handler: Handler, recorder: RequestRecorder, clock: Clock
) -> web.StreamResponse:
    """Count the request while it runs. A client that ends a stream is no failure."""
    assert recorder.running is not None
    recorder.running.add()
    end = partial(_ended, recorder, clock, context.received)
    try:
        response = await handler(request, context)
    except BaseException as failure:
        end(failure.code if isinstance(failure, StatusError) else HTTPStatus.OK)
        raise
    when_ended(response, partial(end, response.status))
    return response


def _ended(recorder: RequestRecorder, clock: Clock, received: float, status: int) -> None:
    assert recorder.running is not None
    recorder.running.add(-1)
    recorder.record(status, clock.monotonic() - received, 0)


def _size_of(response: web.StreamResponse) -> int:
    body = response.body if isinstance(response, web.Response) else None
    if isinstance(body, bytes):
        return len(body)
    return (body.size or 0) if isinstance(body, Payload) else 0
