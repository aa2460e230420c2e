"""Watch: GET with `watch`, streams changes of the selected objects over one response."""

from aiohttp import HttpVersion11, web
from msgspec.structs import replace

from aio_apiserver.apiserver.handlers import output, transforms
from aio_apiserver.apiserver.handlers.rest_request import rest_request
from aio_apiserver.apiserver.handlers.watch_frames import frames_of
from aio_apiserver.apiserver.metrics.requests import RequestMetrics
from aio_apiserver.apiserver.wire import negotiation, parameters, watch_streams, websockets
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.apiserver.wire.watch_framing import wire_of
from aio_apiserver.apiserver.wire.watch_responses import when_ended
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.jitter import chance
from aio_apiserver.base.measures import Histogram
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.rest import Request, RESTStorage, Watching
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.storage.interface import ListOptions, WatchBatch, WatchOptions


async def handle(
    request: web.BaseRequest,
    context: RequestContext,
    served: Served[Watching],
    *,
    draining: Draining,
    requests: RequestMetrics,
    min_seconds: float,
) -> web.StreamResponse:
    """Stream events until the time is up, the client disconnects or the server drains.

    It returns when the watch has begun; the connection waits for the end. A watch without timeoutSeconds ends after
    one to two times `min_seconds`.
    """
    chosen = output.negotiated(context, served, written=media_types.OF_COLLECTIONS)
    selected = parameters.selection(context.query, served.kind, name=context.info.name)
    seconds = selected.timeout_seconds or chance.uniform(min_seconds, 2 * min_seconds)
    resource_request = rest_request(context, served)
    options = replace(await _settled(served, resource_request, selected), ends_in=seconds)
    frames = _frames(request, context, served, chosen)
    delivered = requests.watch_recorder_of(context.info).delivered
    stream = watch_streams.WatchStream(frames, delivered)
    if options.send_initial_events and options.allow_bookmarks:
        durations = requests.initial_events_of(context.info, context.query)
        stream.delivered = _InitialEvents(stream, durations, served.clock.patience, context.received).delivered
    sink = stream if context.sink_of is None else context.sink_of(stream, seconds)
    try:
        watch = await served.storage.watch(resource_request, options, sink, name="")
    except errors.Expired as exc:
        stream.fail(exc)
        return await stream.respond(request, context, seconds, draining)
    try:
        response = await stream.respond(request, context, seconds, draining)
    except BaseException:
        watch.stop()
        raise
    when_ended(response, watch.stop)
    return response


class _InitialEvents:
    """Counts what a stream delivers until its initial events have ended, and how long these took."""

    def __init__(self, stream: watch_streams.WatchStream, durations: Histogram, clock: Clock, began: float) -> None:
        self._stream = stream
        self._count = stream.delivered
        self._durations = durations
        self._clock = clock
        self._began = began

    def delivered(self, batch: WatchBatch, size: int) -> None:
        """The bookmark that ends the initial events is the last of its batch."""
        self._count(batch, size)
        if batch.events and batch.events[-1].ends_initial_events:
            self._durations.observe(self._clock.monotonic() - self._began)
            self._stream.delivered = self._count


async def refuse(request: web.BaseRequest, context: RequestContext, served: Served[RESTStorage]) -> web.StreamResponse:
    """The 405 for a resource with lists but without watches. As in kube-apiserver, errors of the request come first."""
    output.negotiated(context, served, written=media_types.OF_COLLECTIONS)
    parameters.selection(context.query, served.kind, name=context.info.name)
    raise errors.MethodNotSupported(served.resource, context.info.verb)


async def _settled(served: Served[Watching], request: Request, selected: parameters.Selection) -> WatchOptions:
    """The options of the watch. With sendInitialEvents=false and no resource version, it begins at the present
    revision.
    """
    options = selected.watch_options()
    if options.resource_version or selected.send_initial_events is not False:
        return options
    now = await served.storage.list(request, ListOptions(limit=1))
    return WatchOptions(
        resource_version=now.revision, predicate=options.predicate, allow_bookmarks=options.allow_bookmarks
    )


def _frames(
    request: web.BaseRequest, context: RequestContext, served: Served[Watching], chosen: negotiation.Format
) -> watch_streams.Frames:
    """The encoders of events. Raises NotAcceptable for formats that cannot be streamed."""
    transform = transforms.of(chosen, context.query)
    if chosen.media_type == media_types.YAML:
        raise errors.NotAcceptable(media_types.STREAMS)
    knows_chunks = request.version >= HttpVersion11
    wire = wire_of(chosen.media_type, is_socket=websockets.is_websocket(request), knows_chunks=knows_chunks)
    return frames_of(served, transform, wire)
