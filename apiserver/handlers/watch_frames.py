"""Watch frames: encodes a batch of watch events once for all watchers with the same format.

Must hold: watchers of one resource, version, format and framing get the same Encoder objects, because WatchBatch caches
bytes by encoder. Plain JSON is written from the stored JSON without decoding. Only the first table of a stream has
column definitions.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import orjson

from aio_apiserver.apiserver.handlers import object_encoders, transforms, watch_messages
from aio_apiserver.apiserver.handlers.transforms import Transform
from aio_apiserver.apiserver.wire import negotiation
from aio_apiserver.apiserver.wire.watch_framing import Wire
from aio_apiserver.apiserver.wire.watch_streams import Frames
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.printing import tables
from aio_apiserver.registry.machinery.view import typed
from aio_apiserver.storage.interface import Encoder, WatchEvent, WatchEventType

_INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}


def frames_of(served: Served[Any], transform: Transform | None, wire: Wire) -> Frames:
    """The encoders for a resource, a conversion and a framing. They are cached with the resource."""
    key = (Frames, transform, wire)
    known: Frames | None = served.remembered.get(key)
    if known is None:
        known = served.remembered[key] = _frames(served, transform, wire)
    return known


def _frames(served: Served[Any], transform: Transform | None, wire: Wire) -> Frames:
    first, rest = _encoders(served, transform, wire)
    return Frames(wire, first, rest, partial(_failure, wire))


def _failure(wire: Wire, reason: StatusError) -> bytes:
    return wire.framed([watch_messages.failure(wire.media_type, reason)])


def _encoders(served: Served[Any], transform: Transform | None, wire: Wire) -> tuple[Encoder, Encoder]:
    if transform is None:
        plain = _plain_frames(served, wire) if wire.media_type == media_types.JSON else _message_frames(served, wire)
        return plain, plain
    if transform.kind == negotiation.TABLE:
        return _table_frames(served, wire, transform, has_headers=True), _table_frames(served, wire, transform)
    if transform.kind == negotiation.PARTIAL_LIST:
        return _no_frame, _no_frame

    frames = _partial_frames(served, wire, transform.api_version)
    return frames, frames


def _no_frame(_events: Sequence[WatchEvent]) -> bytes:
    """A watch event is not a list: empty bytes end the stream."""
    return b""


def _plain_frames(served: Served[Any], wire: Wire) -> Encoder:
    view = served.view
    heads = {kind: b'{"type":"%b","object":%b' % (kind.value.encode(), view.prefix) for kind in WatchEventType}

    def encode(events: Sequence[WatchEvent]) -> bytes:
        return wire.framed(map(line, events))

    def line(event: WatchEvent) -> bytes:
        if event.object is None:
            return heads[event.type] + orjson.dumps(view.empty(_bookmark(event)))[1:] + b"}\n"
        return b"%b%b}\n" % (heads[event.type], view.item(event.object)[1:])

    return encode


def _message_frames(served: Served[Any], wire: Wire) -> Encoder:
    view = served.view

    def message(event: WatchEvent) -> bytes:
        if event.object is not None:
            return watch_messages.of_message(event.type.value, object_encoders.message(served, event.object))
        return _message(served, wire, event, typed(view.object_kind, view.empty(_bookmark(event))))

    return lambda events: wire.framed(map(message, events))


def _partial_frames(served: Served[Any], wire: Wire, api_version: str) -> Encoder:
    view, encode = served.view, object_encoders.partial_of(served, api_version)

    def message(event: WatchEvent) -> bytes:
        if event.object is None:
            return _message(
                served,
                wire,
                event,
                tables.partial(api_version, view.empty(_bookmark(event)), hidden=served.kind.inner_annotations),
            )
        if wire.media_type == media_types.PROTOBUF:
            return watch_messages.of_message(
                event.type.value, object_encoders.partial_message(served, api_version, event.object)
            )
        return _line(event, event.object.encoded(encode))

    return lambda events: wire.framed(map(message, events))


def _table_frames(served: Served[Any], wire: Wire, transform: Transform, *, has_headers: bool = False) -> Encoder:
    def encode(events: Sequence[WatchEvent]) -> bytes:
        messages = [message(event, None) for event in events[has_headers:]]
        if has_headers:
            messages.insert(0, message(events[0], served.column_definitions))
        return wire.framed(messages)

    def message(event: WatchEvent, definitions: Sequence[Object] | None) -> bytes:
        if event.object is None:
            return _message(served, wire, event, bookmark(event, definitions))
        return _line(event, object_encoders.table_of_one(transform, served, event.object, definitions))

    def bookmark(event: WatchEvent, definitions: Sequence[Object] | None) -> Object:
        obj = served.view.empty(_bookmark(event))
        metadata = {"resourceVersion": obj["metadata"]["resourceVersion"]}
        # The bookmark at the end of the initial events has its annotation, whatever `includeObject` says.
        form = transform if not event.ends_initial_events else transform.with_metadata()
        row = transforms.row(form, served, obj, now=served.clock.now())
        return tables.table(transform.api_version, metadata, definitions=definitions, rows=[row])

    return encode


def _line(event: WatchEvent, obj: bytes) -> bytes:
    """The line of an event with the JSON of its object."""
    return b'{"type":"%b","object":%b}\n' % (event.type.value.encode(), obj)


def _message(served: Served[Any], wire: Wire, event: WatchEvent, obj: Object) -> bytes:
    return watch_messages.message(wire.media_type, event.type.value, obj, served.types)


def _bookmark(event: WatchEvent) -> dict[str, Any]:
    """The metadata of a bookmark: its revision, and the annotation that ends the initial events."""
    metadata: dict[str, Any] = {"resourceVersion": str(event.revision)}
    if event.ends_initial_events:
        metadata["annotations"] = _INITIAL_EVENTS_END
    return metadata
