"""watch: changes as they happen, over one long answer."""

import random

from aiohttp import HttpVersion11, hdrs, web
from msgspec.structs import replace

from apiserver import negotiation, parameters, streams, websockets
from apiserver.context import RequestContext
from apiserver.draining import Draining
from apiserver.handlers import output, transforms
from apiserver.handlers.rest_request import rest_request
from apiserver.handlers.served import Served
from apiserver.handlers.watch_frames import frames_of
from apiserver.metrics.requests import RequestMetrics
from apiserver.wires import wire_of
from registry import errors
from registry.rest import Request, Watching
from storage.interface import ListOptions, WatchOptions


async def handle(
    request: web.BaseRequest,
    context: RequestContext,
    served: Served[Watching],
    *,
    draining: Draining,
    requests: RequestMetrics,
    min_seconds: float,
) -> web.StreamResponse:
    """Stream events until the time is up, the client goes, or the server does.

    A watch that does not say how long ends after one to two times `min_seconds`.
    """
    chosen = _negotiated(request, served)
    selected = parameters.selection(context.query, served.kind, is_watch=True, name=context.info.name)
    seconds = selected.timeout_seconds or random.uniform(min_seconds, 2 * min_seconds)  # noqa: S311 - spreads load
    knows_chunks = request.version >= HttpVersion11
    wire = wire_of(chosen.media_type, is_socket=websockets.is_websocket(request), knows_chunks=knows_chunks)
    frames = frames_of(served, transforms.of(chosen, context.query), wire)
    resource_request = rest_request(context, served)
    options = replace(await _settled(served, resource_request, selected), ends_in=seconds)
    stream = streams.WatchStream(request, context, frames, requests.watch_recorder_of(context.info))
    sink = stream if context.sink_of is None else context.sink_of(stream, seconds)
    try:
        watch = await served.storage.watch(resource_request, options, sink, name="")
    except errors.Expired as exc:
        stream.fail(exc)
        return await stream.run(seconds, draining)
    try:
        return await stream.run(seconds, draining)
    finally:
        watch.stop()


async def _settled(served: Served[Watching], request: Request, selected: parameters.Selection) -> WatchOptions:
    """The options with a beginning: who wants neither the state nor a version wants what comes from now on."""
    options = selected.watch_options()
    if options.send_initial_events or options.resource_version:
        return options
    now = await served.storage.list(request, ListOptions(limit=1))
    return WatchOptions(
        resource_version=now.revision, predicate=options.predicate, allow_bookmarks=options.allow_bookmarks
    )


def _negotiated(request: web.BaseRequest, served: Served[Watching]) -> negotiation.Format:
    accept = request.headers.get(hdrs.ACCEPT, "")
    if not negotiation.is_served(accept):
        raise errors.RouteNotAcceptable(negotiation.OF_COLLECTIONS)
    chosen = output.negotiated(request, served)
    if chosen.media_type == negotiation.YAML:
        raise errors.NotAcceptable(negotiation.STREAM_TYPES)
    return chosen
