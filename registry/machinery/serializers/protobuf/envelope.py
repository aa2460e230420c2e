"""envelope: a magic, then the type of an object beside its message (runtime.Unknown).

Must hold: only Kubernetes' own types have messages; a type that has none is not acceptable, never written wrong.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery.schema import Catalog, UnknownKind, wire
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import (
    LENGTH,
    Malformed,
    delimited,
    read_fields,
    tag,
)
from aio_apiserver.registry.machinery.serializers.protobuf.messages import Message, Messages

MAGIC = b"k8s\x00"
_MAGIC_NUMBERS = "[107 56 115 0]"

_TYPE, _RAW, _ENCODING, _CONTENT_TYPE = 1, 2, 3, 4
_API_VERSION, _KIND = 1, 2

_UNPUBLISHED: Mapping[tuple[str, str], str] = {
    ("apidiscovery.k8s.io", "v2"): "io.k8s.api.apidiscovery.v2",
    ("meta.k8s.io", "v1"): "io.k8s.apimachinery.pkg.apis.meta.v1",
    ("meta.k8s.io", "v1beta1"): "io.k8s.apimachinery.pkg.apis.meta.v1",
}
"""Versions that clients get answers in, but that OpenAPI does not tell of: where their definitions would be."""


def to_value(data: bytes, types: Catalog, expected: GroupVersionKind) -> dict[str, Any]:
    """The object in a body, typed, as JSON would have it. Raises Malformed."""
    if not data.startswith(MAGIC):
        raise Malformed(f"provided data does not appear to be a protobuf message, expected prefix {_MAGIC_NUMBERS}")
    if len(data) == len(MAGIC):
        raise Malformed("empty body")
    parts = {number: content for number, _, content in read_fields(data[len(MAGIC) :])}
    type_meta = {number: content.decode(errors="replace") for number, _, content in read_fields(parts.get(_TYPE, b""))}
    api_version = type_meta.get(_API_VERSION) or expected.api_version
    kind = type_meta.get(_KIND) or expected.kind
    group, _, version = api_version.rpartition("/")
    name = GroupVersionKind(group, version, kind)
    value = _message(types, name).read(parts.get(_RAW, b"")) if has_message(name, types) else {}
    return {"kind": kind, "apiVersion": api_version, **value}


def has_message(kind: GroupVersionKind, types: Catalog) -> bool:
    """Whether objects of a kind can be written."""
    definition = _definition(kind, types)
    return bool(definition and wire.fields(definition))


def dump(value: dict[str, Any], types: Catalog) -> bytes:
    """The body of a typed object, whose type must have a message."""
    api_version = value.get("apiVersion", "")
    group, _, version = api_version.rpartition("/")
    message = _message(types, GroupVersionKind(group, version or "v1", value["kind"]))
    type_meta = tag(_API_VERSION, LENGTH) + delimited(api_version.encode())
    type_meta += tag(_KIND, LENGTH) + delimited(value["kind"].encode())
    body = tag(_TYPE, LENGTH) + delimited(type_meta) + tag(_RAW, LENGTH) + delimited(message.write(value))
    return MAGIC + body + tag(_ENCODING, LENGTH) + delimited(b"") + tag(_CONTENT_TYPE, LENGTH) + delimited(b"")


@lru_cache(maxsize=8)
def _messages(types: Catalog) -> Messages:
    return Messages(types)


def _message(types: Catalog, kind: GroupVersionKind) -> Message:
    return _messages(types).of(_definition(kind, types))


def _definition(kind: GroupVersionKind, types: Catalog) -> str:
    """The definition of a kind; nothing when it is not one of Kubernetes' own."""
    package = _UNPUBLISHED.get((kind.group, kind.version))
    if package is not None:
        return f"{package}.{kind.kind}"
    try:
        return types.type_for(kind.group, kind.version, kind.kind).definition
    except UnknownKind:
        return ""
