"""Fault filter: injects the faults of --testing into requests, for tests of clients.

Without --testing it is not in the filter chain. It is the innermost filter, so that user, rights and resource are
known, and metrics count what clients see. Must hold: every fault is logged, and marked in the response headers.

A stale read is the state at the resource version that its response names. A watch from that version has no gap.
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from aiohttp import web
from msgspec.structs import replace

from aio_apiserver.apiserver.handlers import output
from aio_apiserver.apiserver.handlers.rest_request import rest_request
from aio_apiserver.apiserver.wire import parameters, responses, route_errors
from aio_apiserver.apiserver.wire.context import Handler, RequestContext, SinkOf
from aio_apiserver.apiserver.wire.watch_responses import until_ended
from aio_apiserver.apiserver.wire.watch_streams import WatchStream
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.errors import Details, StatusError
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.generic.rest import MODIFIED
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.storage.interface import ListOptions, ResourceVersionMatch, WatchSink
from aio_apiserver.storage.selection import Operator, Requirement, SelectionPredicate
from aio_apiserver.testing.bench import watch_faults
from aio_apiserver.testing.bench.fault_kinds import Fault
from aio_apiserver.testing.bench.faults import ActiveFault, ActiveFaults

_INTERNAL_ERROR = 500
_REASONS = {_INTERNAL_ERROR: "InternalError", 503: "ServiceUnavailable", 504: "Timeout"}


class FaultFilter:
    """Applies the active rules to each request."""

    def __init__(self, faults: ActiveFaults, served: ServedPaths, clock: Clock) -> None:
        self._faults = faults
        self._served = served
        self._clock = clock

    def with_faults(self, handler: Handler) -> Handler:
        """Wrap a handler: faults before it, after it, and in the events of its watch."""

        async def faulty(request: web.BaseRequest, context: RequestContext) -> web.StreamResponse:
            met = list(self._faults.of_request(context.info, context.user.name))
            for active in met:
                watch_faults.log(active, context)
            context = replace(context, fault=", ".join(active.mark for active in met))
            failure = await self._before(request, context, met)
            if failure is not None:
                return responses.error(request, context, failure)
            response = await self._handled(request, context, met, handler)
            if _has(met, Fault.CUT_AFTER):
                raise _cut(request)
            return response

        return faulty

    async def _before(
        self, request: web.BaseRequest, context: RequestContext, met: Sequence[ActiveFault]
    ) -> StatusError | None:
        """Apply latency and cuts. Returns the error of the request, if a rule has one. Raises ConnectionResetError."""
        await self._clock.patience.sleep(
            sum(active.rule.delay or 0 for active in met if active.rule.fault is Fault.LATENCY)
        )
        if _has(met, Fault.CUT_BEFORE):
            raise _cut(request)
        return next((failure for active in met if (failure := _failure(active, context)) is not None), None)

    async def _handled(
        self, request: web.BaseRequest, context: RequestContext, met: Sequence[ActiveFault], handler: Handler
    ) -> web.StreamResponse:
        version = next((active.rule.version for active in met if active.rule.fault is Fault.STALE), None)
        if version is not None and context.info.verb == "list":
            context = listing(context, version)
        elif version is not None:
            handler = partial(get, served=self._served, version=version)
        async with AsyncExitStack() as stack:
            if context.info.verb == "watch":
                context = replace(context, sink_of=self._sinks(context, stack))
            try:
                response = await handler(request, context)
                await until_ended(response)
                return response
            except StatusError as failure:
                if not met or request.writer.output_size:
                    raise
                return responses.error(request, context, failure)

    def _sinks(self, context: RequestContext, stack: AsyncExitStack) -> SinkOf:
        def sink_of(stream: WatchStream, seconds: float) -> WatchSink:
            sink = watch_faults.FaultyStream(stream, context, self._faults, self._clock)
            stack.push_async_callback(sink.close)
            sink.begin(seconds)
            return sink

        return sink_of


def _has(met: Sequence[ActiveFault], fault: Fault) -> bool:
    return any(active.rule.fault is fault for active in met)


def _cut(request: web.BaseRequest) -> ConnectionResetError:
    """Abort the connection."""
    if request.transport is not None:
        request.transport.abort()
    return ConnectionResetError("the connection was cut by a fault")


def _failure(active: ActiveFault, context: RequestContext) -> StatusError | None:
    """The error of a rule; None when its fault is not an error."""
    info, rule = context.info, active.rule
    if rule.fault is Fault.CONFLICT:
        return errors.Conflict(GroupResource(info.group, info.resource), info.name, why=MODIFIED)
    if rule.fault is Fault.THROTTLE:
        seconds = max(round(rule.retry_after or 0), 1)
        return errors.TooManyRequests("Too many requests, please try again later.", retry_after_seconds=seconds)
    if rule.fault is Fault.GONE:
        return errors.Expired(watch_faults.TOO_OLD)
    return _Broken(active) if rule.fault is Fault.ERROR else None


class _Broken(StatusError):
    """A 5xx error."""

    def __init__(self, active: ActiveFault) -> None:
        rule = active.rule
        details = Details(retry_after_seconds=round(rule.retry_after or 0))
        super().__init__(f"injected fault {active.mark}", details=details)
        self.code = rule.code or _INTERNAL_ERROR
        self.reason = _REASONS.get(self.code, "")


_NEWEST = ("resourceVersion", "resourceVersionMatch")


def listing(context: RequestContext, version: int) -> RequestContext:
    """The context with another resource version to list. Further pages of a list keep their own version."""
    if parameters.text(context.query, "continue"):
        return context
    others = {name: values for name, values in context.query.items() if name not in _NEWEST}
    query = {**others, "resourceVersion": [str(version)], "resourceVersionMatch": [ResourceVersionMatch.EXACT.value]}
    return replace(context, query=query)


async def get(
    request: web.BaseRequest, context: RequestContext, *, served: ServedPaths, version: int
) -> web.StreamResponse:
    """Respond with an object at an old version."""
    info = context.info
    path = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    one = served.get((info.group, info.version, path))
    of_objects = served.get((info.group, info.version, info.resource))
    if one is None or of_objects is None:
        raise route_errors.RouteNotFound
    return await _respond(request, context, one, of_objects, version=version)


async def _respond(
    request: web.BaseRequest, context: RequestContext, one: Served[Any], of_objects: Served[Any], *, version: int
) -> web.StreamResponse:
    chosen = output.negotiated(context, one)
    named = SelectionPredicate((), (Requirement("metadata.name", Operator.IN, frozenset({context.info.name})),))
    options = ListOptions(resource_version=version, match=ResourceVersionMatch.EXACT, predicate=named)
    found = await of_objects.storage.list(rest_request(context, of_objects), options)
    if not found.items:
        raise errors.NotFound(one.resource, context.info.name)
    return await output.respond_object(request, context, one, found.items[0], chosen)
