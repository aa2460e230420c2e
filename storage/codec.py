"""Codec: encodes objects as stored bytes and decodes them. A magic prefix names the codec, so mixed data can be read.

Protobuf needs the types of Kubernetes, which storage does not know: the registry hands its codec down as `messages`.

Must hold: `decode` reads the output of every codec of every release. Bytes that it cannot read raise ValueError.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import msgpack
import orjson
from msgspec import Struct
from msgspec.msgpack import Decoder

from aio_apiserver.storage import versioner
from aio_apiserver.storage.errors import NotStorable

Object = dict[str, Any]


def _writes_all(_type_meta: Mapping[str, str]) -> bool:
    return True


def _as_it_is(obj: Object) -> Object:
    return obj


class Codec(Struct, frozen=True):
    """One stored format. `magic` begins every value.

    writes: whether it has a form for objects of a type. finish: puts an object with all its defaults in order.
    """

    media_type: str
    magic: bytes
    pack: Callable[[Object], bytes]
    unpack: Callable[[bytes], Any]
    writes: Callable[[Mapping[str, str]], bool] = _writes_all
    finish: Callable[[Object], Object] = _as_it_is

    def encode(self, obj: Object) -> bytes:
        """The stored bytes. Raises NotStorable."""
        try:
            return self.magic + self.pack(obj)
        except (TypeError, ValueError, OverflowError, RecursionError) as exc:
            raise NotStorable(f"object cannot be encoded as {self.media_type}: {exc}") from exc


_UNPACK = Decoder(dict[str, Any] | list[Any] | int | str | None).decode
"""msgspec decodes in half the time of msgpack, and decoded objects share their keys. The type makes it refuse members
whose names are no text; deeper ones are refused by JSON.
"""

MSGPACK = Codec("application/msgpack", b"aio\x00mp\x00", msgpack.packb, _UNPACK)
JSON = Codec("application/json", b"", orjson.dumps, orjson.loads)
"""Plain JSON, as kube-apiserver with --storage-media-type=application/json; its magic is the brace."""

BY_MEDIA_TYPE = {codec.media_type: codec for codec in (MSGPACK, JSON)}

PROTOBUF = "application/vnd.kubernetes.protobuf"
PROTOBUF_MAGIC = b"k8s\x00"
"""kube-apiserver's own form. Its codec comes from the registry."""

MEDIA_TYPES = (*BY_MEDIA_TYPE, PROTOBUF)


def chosen(codec: Codec, type_meta: Mapping[str, str], *, is_json: bool) -> Codec:
    """The codec that writes objects of a type. Protobuf gives way to JSON for a type without message, as upstream.

    `is_json`: kube-apiserver stores the type as JSON. Raises NotStorable when the type does not read back the same.
    """
    if codec.media_type == PROTOBUF and not is_json and codec.writes(type_meta):
        return codec  # its values read back with defaults, which a sample has not
    found = JSON if codec.media_type == PROTOBUF else codec
    check(found, type_meta)
    return found


def check(codec: Codec, type_meta: Mapping[str, str]) -> None:
    """Raises NotStorable when what a codec writes of objects of a type does not read back the same."""
    sample: Object = {**type_meta, "metadata": {"name": "codec", "resourceVersion": ""}}
    try:
        found = decode(codec.encode(sample))
    except ValueError as exc:
        raise NotStorable(f"{codec.media_type} cannot be decoded: {exc}") from exc
    if found != sample:
        raise NotStorable(f"{codec.media_type} does not read back what it writes of {dict(type_meta)}")


def to_json(obj: Object) -> bytes:
    """The object as JSON for clients. An object that this refuses must not be stored.

    JSON is the narrower format: it allows less nesting than msgpack, and neither bytes nor NaN and infinities. Raises
    NotStorable.
    """
    try:
        shown = orjson.dumps(obj)
    except (TypeError, ValueError, RecursionError) as exc:
        raise NotStorable(f"object cannot be shown as {JSON.media_type}: {exc}") from exc
    if b"null" in shown and _holds_a_number_that_is_none(obj):
        raise NotStorable(f"object cannot be shown as {JSON.media_type}: it holds an infinite number or NaN")
    return shown


def _holds_a_number_that_is_none(obj: Object) -> bool:
    """Whether the object contains NaN or an infinity, which orjson writes as null."""
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


def decode(data: bytes, messages: Codec | None = None, default: Callable[[Object], None] | None = None) -> Object:
    """Decode stored bytes of any codec. `default` completes an object in protobuf. Raises ValueError."""
    codec = codec_of(data, messages)
    if codec is None:
        raise ValueError(f"unknown magic {data[:8]!r}")
    try:
        obj = codec.unpack(data[len(codec.magic) :])
    except Exception as exc:
        raise ValueError(f"broken {codec.media_type}: {exc}") from exc
    if not isinstance(obj, dict) or not isinstance(obj.get("metadata"), dict):
        raise ValueError(f"not an object: {type(obj).__name__}")
    if codec is JSON and "resourceVersion" not in obj["metadata"]:
        versioner.clear_resource_version(obj)  # kube-apiserver stores none
    if codec is messages:
        if default is not None:
            default(obj)
        return codec.finish(obj)
    return obj


def codec_of(data: bytes, messages: Codec | None = None) -> Codec | None:
    """The codec that wrote these bytes; None if unknown."""
    if data.startswith(MSGPACK.magic):
        return MSGPACK
    if data.startswith(b"{"):
        return JSON
    return messages if messages is not None and data.startswith(PROTOBUF_MAGIC) else None
