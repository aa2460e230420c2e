"""Watch frames: the events of a batch as lines of JSON in one chunk, made once for all watchers with the same format.

Must hold: watchers of one resource, version and format get the same Encoder object, because WatchBatch remembers bytes
by it. An event's object is written from the stored bytes.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import orjson

from apiserver.context import RequestContext
from apiserver.negotiation import Format
from apiserver.streams import chunk
from registry.view import View
from storage.interface import Encoder, WatchEvent, WatchEventType

_INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}


def frames_of(view: View, chosen: Format, _context: RequestContext) -> Encoder:
    """The encoder for a view in a format."""
    return _plain_frames(view)


@lru_cache(maxsize=4096)
def _plain_frames(view: View) -> Encoder:
    heads = {kind: b'{"type":"%b","object":%b' % (kind.value.encode(), view.prefix) for kind in WatchEventType}

    def encode(events: Sequence[WatchEvent]) -> bytes:
        return chunk(b"".join(line(event) for event in events))

    def line(event: WatchEvent) -> bytes:
        if event.object is None:
            return heads[event.type] + orjson.dumps(view.empty(_bookmark(event)))[1:] + b"}\n"
        return b"%b%b}\n" % (heads[event.type], view.item(event.object)[1:])

    return encode


def _bookmark(event: WatchEvent) -> dict[str, Any]:
    """The metadata of a bookmark: nothing but how far the watch has come."""
    metadata: dict[str, Any] = {"resourceVersion": str(event.revision)}
    if event.ends_initial_events:
        metadata["annotations"] = _INITIAL_EVENTS_END
    return metadata
