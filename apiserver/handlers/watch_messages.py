"""Watch messages: encodes one event as a line of JSON, or as the protobuf message WatchEvent."""

from collections.abc import Mapping
from typing import Any

import orjson

from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.schema import Catalog, builtin
from aio_apiserver.registry.machinery.serializers import protobuf
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import LENGTH, delimited, tag

_TYPE, _OBJECT = 1, 2
_RAW = 1


def message(media_type: str, kind: str, obj: Mapping[str, Any], types: Catalog) -> bytes:
    """An event with an object that has its type."""
    if media_type == media_types.PROTOBUF:
        return of_message(kind, protobuf.dump(dict(obj), types))
    return orjson.dumps({"type": kind, "object": obj}, option=orjson.OPT_APPEND_NEWLINE)


def failure(media_type: str, reason: StatusError) -> bytes:
    """The ERROR event, the last one of a stream."""
    return message(media_type, "ERROR", reason.status(), builtin())


def of_message(kind: str, raw: bytes) -> bytes:
    """The protobuf body of an object in an event."""
    extension = tag(_RAW, LENGTH) + delimited(raw)
    return tag(_TYPE, LENGTH) + delimited(kind.encode()) + tag(_OBJECT, LENGTH) + delimited(extension)
