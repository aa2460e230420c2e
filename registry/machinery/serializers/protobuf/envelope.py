"""Envelope: Kubernetes' protobuf envelope (runtime.Unknown): a magic, the type of an object, and its message.

Must hold: only Kubernetes' own types have messages. A type without a message is refused as not acceptable.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery.schema import Catalog, UnknownKind, wire
from aio_apiserver.registry.machinery.serializers.protobuf import octets
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import (
    LENGTH,
    Malformed,
    delimited,
    read_delimited,
    tag,
)
from aio_apiserver.registry.machinery.serializers.protobuf.messages import Messages

MAGIC = b"k8s\x00"
_MAGIC_NUMBERS = "[107 56 115 0]"

_TYPE, _RAW, _ENCODING, _CONTENT_TYPE = 1, 2, 3, 4
_NAMES = {_TYPE: "TypeMeta", _RAW: "Raw", _ENCODING: "ContentEncoding", _CONTENT_TYPE: "ContentType"}
_API_VERSION, _KIND = 1, 2
_TYPE_NAMES = {_API_VERSION: "APIVersion", _KIND: "Kind"}

_UNPUBLISHED: Mapping[tuple[str, str], str] = {
    ("apidiscovery.k8s.io", "v2"): "io.k8s.api.apidiscovery.v2",
    ("meta.k8s.io", "v1"): "io.k8s.apimachinery.pkg.apis.meta.v1",
    ("meta.k8s.io", "v1beta1"): "io.k8s.apimachinery.pkg.apis.meta.v1",
}
"""Served versions that OpenAPI does not describe, with the package of their definitions."""


def to_value(data: bytes, types: Catalog, expected: GroupVersionKind) -> dict[str, Any]:
    """The object in a body, typed, as its JSON would decode. Raises Malformed."""
    if not data:
        raise Malformed("empty data")
    if not data.startswith(MAGIC):
        raise Malformed(f"provided data does not appear to be a protobuf message, expected prefix {_MAGIC_NUMBERS}")
    if len(data) == len(MAGIC):
        raise Malformed("empty body")
    parts = _parts(data)
    type_meta = read_delimited(parts.get(_TYPE, b""), _TYPE_NAMES, "TypeMeta")
    api_version = type_meta.get(_API_VERSION, b"").decode(errors="replace") or expected.api_version
    kind = type_meta.get(_KIND, b"").decode(errors="replace") or expected.kind
    group, _, version = api_version.rpartition("/")
    name = GroupVersionKind(group, version, kind)
    value = _read(name, parts.get(_RAW, b""), types) if has_message(name, types) else {}
    return {"kind": kind, "apiVersion": api_version, **value}


def _parts(data: bytes) -> Mapping[int, bytes]:
    return read_delimited(data[len(MAGIC) :], _NAMES, "Unknown")


def has_message(kind: GroupVersionKind, types: Catalog) -> bool:
    """Whether objects of a kind can be written."""
    definition = _definition(kind, types)
    return bool(definition and wire.fields(definition))


def dump(value: dict[str, Any], types: Catalog) -> bytes:
    """The body of a typed object, whose type must have a message."""
    api_version = value.get("apiVersion", "")
    group, _, version = api_version.rpartition("/")
    kind = GroupVersionKind(group, version or "v1", value["kind"])
    message = octets.to_bytes(_write(kind, octets.of_value(value), types))
    return enclosed(delimited(message), api_version=api_version, kind=kind.kind)


def message_in(json: bytes, kind: GroupVersionKind, types: Catalog) -> bytes:
    """The message of an object in JSON, without its envelope."""
    return octets.to_bytes(_write(kind, octets.value_in(json), types))


def enclosed(*message: bytes, api_version: str, kind: str) -> bytes:
    """The body of a typed object from the parts of its message; the first part begins with the message's length."""
    head, tail = around(api_version, kind)
    return b"".join((head, *message, tail))


@lru_cache(maxsize=1024)
def around(api_version: str, kind: str) -> tuple[bytes, bytes]:
    """The bytes before the length of a message, and the bytes after the message."""
    type_meta = tag(_API_VERSION, LENGTH) + delimited(api_version.encode())
    type_meta += tag(_KIND, LENGTH) + delimited(kind.encode())
    head = MAGIC + tag(_TYPE, LENGTH) + delimited(type_meta) + tag(_RAW, LENGTH)
    return head, tag(_ENCODING, LENGTH) + delimited(b"") + tag(_CONTENT_TYPE, LENGTH) + delimited(b"")


def message_of(data: bytes) -> bytes:
    """The message in a body. Raises Malformed."""
    return _parts(data).get(_RAW, b"")


def part(value: dict[str, Any], definition: str, types: Catalog) -> bytes:
    """The message of a part of an object."""
    return octets.to_bytes(_messages(types).write(definition, octets.of_value(value)))


def part_in(message: bytes, definition: str, types: Catalog) -> dict[str, Any]:
    """The part of an object in a message. Raises Malformed."""
    return _messages(types).read(definition, message)


@lru_cache(maxsize=8)
def _messages(types: Catalog) -> Messages:
    return Messages(types)


def _write(kind: GroupVersionKind, value: dict[str, Any], types: Catalog) -> str:
    return _messages(types).write(_definition(kind, types), value)


def _read(kind: GroupVersionKind, message: bytes, types: Catalog) -> dict[str, Any]:
    return _messages(types).read(_definition(kind, types), message)


def _definition(kind: GroupVersionKind, types: Catalog) -> str:
    """The definition of a kind; empty when it is not one of Kubernetes' own."""
    package = _UNPUBLISHED.get((kind.group, kind.version))
    if package is not None:
        return f"{package}.{kind.kind}"
    try:
        return types.type_for(kind.group, kind.version, kind.kind).definition
    except UnknownKind:
        return ""
