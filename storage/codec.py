"""Codecs: objects to stored bytes and back. A magic names the codec, so that mixed data reads back.

Must hold: `decode` reads everything that any codec of any release has written, whatever this server writes; what it
cannot read is a ValueError, never garbage.
"""

import math
from collections.abc import Callable
from typing import Any

import msgpack
import orjson
from msgspec import Struct

from aio_apiserver.storage.errors import NotStorable

Object = dict[str, Any]


class Codec(Struct, frozen=True):
    """One stored format. `magic` starts every value that it writes."""

    media_type: str
    magic: bytes
    pack: Callable[[Object], bytes]
    unpack: Callable[[bytes], Any]

    def encode(self, obj: Object) -> bytes:
        """The stored bytes. Raises NotStorable."""
        try:
            return self.magic + self.pack(obj)
        except (TypeError, ValueError, OverflowError, RecursionError) as exc:
            raise NotStorable(f"object cannot be encoded as {self.media_type}: {exc}") from exc


MSGPACK = Codec("application/msgpack", b"aio\x00mp\x00", msgpack.packb, msgpack.unpackb)
JSON = Codec("application/json", b"", orjson.dumps, orjson.loads)
"""Bare JSON, as kube-apiserver stores it with --storage-media-type=application/json; its magic is the brace."""

BY_MEDIA_TYPE = {codec.media_type: codec for codec in (MSGPACK, JSON)}


def to_json(obj: Object) -> bytes:
    """The object as readers will see it: what this refuses must not be stored, or no reader could be answered.

    JSON is the narrower format: it nests less deeply than msgpack, holds no bytes and no numbers that are none.
    Raises NotStorable.
    """
    try:
        shown = orjson.dumps(obj)
    except (TypeError, ValueError, RecursionError) as exc:
        raise NotStorable(f"object cannot be shown as {JSON.media_type}: {exc}") from exc
    if b"null" in shown and _holds_a_number_that_is_none(obj):
        raise NotStorable(f"object cannot be shown as {JSON.media_type}: it holds an infinite number or NaN")
    return shown


def _holds_a_number_that_is_none(obj: Object) -> bool:
    """Whether there is NaN or an infinity, which orjson shows as null."""
    remaining: list[Any] = [obj]
    while remaining:
        value = remaining.pop()
        if isinstance(value, dict):
            remaining.extend(filter(None, value.values()))
        elif isinstance(value, list | tuple):
            remaining.extend(filter(None, value))
        elif isinstance(value, float) and not math.isfinite(value):
            return True
    return False


def decode(data: bytes) -> Object:
    """The object in stored bytes of any codec."""
    codec = codec_of(data)
    if codec is None:
        raise ValueError(f"unknown magic {data[:8]!r}")
    try:
        obj = codec.unpack(data[len(codec.magic) :])
    except Exception as exc:
        raise ValueError(f"broken {codec.media_type}: {exc}") from exc
    if not isinstance(obj, dict) or not isinstance(obj.get("metadata"), dict):
        raise ValueError(f"not an object: {type(obj).__name__}")
    return obj


def codec_of(data: bytes) -> Codec | None:
    """The codec that wrote these bytes; None when no codec of ours did."""
    if data.startswith(MSGPACK.magic):
        return MSGPACK
    return JSON if data.startswith(b"{") else None
