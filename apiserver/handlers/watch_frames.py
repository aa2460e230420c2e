"""Watch frames: the events of a batch as lines of JSON in one chunk, made once for all watchers with the same format.

Must hold: watchers of one resource, version and format get the same Encoder objects, because WatchBatch remembers bytes
by them. An event's object is written from the stored bytes unless the client wants it in another form. Only the first
table of a stream says what its columns are.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import orjson

from apiserver import negotiation
from apiserver.handlers import transforms
from apiserver.handlers.served import Served
from apiserver.handlers.transforms import Transform
from apiserver.streams import Frames, chunk
from registry.printing import tables
from storage.interface import Encoder, WatchEvent, WatchEventType
from storage.stored_object import Object

_INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}


@lru_cache(maxsize=4096)
def frames_of(served: Served[Any], transform: Transform | None) -> Frames:
    """The encoders for what is served, in a form."""
    if transform is None:
        encode = _plain_frames(served)
        return Frames(encode, encode)
    if transform.kind == negotiation.TABLE:
        return Frames(_table_frames(served, transform, has_headers=True), _table_frames(served, transform))
    if transform.kind == negotiation.PARTIAL_LIST:
        return Frames(_no_frame, _no_frame)
    encode = _transformed_frames(lambda event: tables.partial(transform.api_version, _object(served, event)))
    return Frames(encode, encode)


def _no_frame(_events: Sequence[WatchEvent]) -> bytes:
    """An event is no list, and cannot be written as one."""
    return b""


def _plain_frames(served: Served[Any]) -> Encoder:
    view = served.view
    heads = {kind: b'{"type":"%b","object":%b' % (kind.value.encode(), view.prefix) for kind in WatchEventType}

    def encode(events: Sequence[WatchEvent]) -> bytes:
        return chunk(b"".join(line(event) for event in events))

    def line(event: WatchEvent) -> bytes:
        if event.object is None:
            return heads[event.type] + orjson.dumps(view.empty(_bookmark(event)))[1:] + b"}\n"
        return b"%b%b}\n" % (heads[event.type], view.item(event.object)[1:])

    return encode


def _table_frames(served: Served[Any], transform: Transform, *, has_headers: bool = False) -> Encoder:
    def encode(events: Sequence[WatchEvent]) -> bytes:
        lines = [_line(event, table(event, None)) for event in events[has_headers:]]
        if has_headers:
            lines.insert(0, _line(events[0], table(events[0], served.column_definitions)))
        return chunk(b"".join(lines))

    def table(event: WatchEvent, definitions: Sequence[Object] | None) -> Object:
        obj = _object(served, event)
        metadata = {"resourceVersion": obj["metadata"]["resourceVersion"]}
        # The bookmark that ends the initial events shows its annotation whatever rows are to bring.
        form = transform if not event.ends_initial_events else transform.with_metadata()
        row = transforms.row(form, served, obj, now=served.clock.now())
        return tables.table(transform.api_version, metadata, definitions=definitions, rows=[row])

    return encode


def _transformed_frames(transformed: Callable[[WatchEvent], Object]) -> Encoder:
    return lambda events: chunk(b"".join(_line(event, transformed(event)) for event in events))


def _line(event: WatchEvent, obj: Object) -> bytes:
    return orjson.dumps({"type": event.type.value, "object": obj}, option=orjson.OPT_APPEND_NEWLINE)


def _object(served: Served[Any], event: WatchEvent) -> Object:
    """The hub object of an event."""
    return served.view.empty(_bookmark(event)) if event.object is None else event.object.decode()


def _bookmark(event: WatchEvent) -> dict[str, Any]:
    """The metadata of a bookmark: nothing but how far the watch has come."""
    metadata: dict[str, Any] = {"resourceVersion": str(event.revision)}
    if event.ends_initial_events:
        metadata["annotations"] = _INITIAL_EVENTS_END
    return metadata
