"""storage_form: the codec of kube-apiserver's stored values: its protobuf envelope, in the version of each kind.

Must hold: kube-apiserver reads what the codec writes. The codec reads what kube-apiserver writes, in the version
that the envelope names. The object has the defaults of its schema, and its fields are in the canonical order.
"""

import base64
from collections.abc import Mapping
from functools import partial
from typing import Any

from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery.schema import Catalog
from aio_apiserver.registry.machinery.serializers.protobuf import envelope
from aio_apiserver.registry.machinery.serializers.protobuf.encoding import LENGTH, delimited, read_fields, tag
from aio_apiserver.storage.codec import PROTOBUF, PROTOBUF_MAGIC, Codec, Object

_UNTYPED = GroupVersionKind("", "", "")
_RANGE = GroupVersionKind("", "v1", "RangeAllocation")
_PLACEHOLDER = "0"
"""The resourceVersion is not stored, but its place among the fields is kept."""
_METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def codec_of(types: Catalog) -> Codec:
    """The codec for the types of one minor."""
    return Codec(
        PROTOBUF,
        PROTOBUF_MAGIC,
        partial(_pack, types),
        partial(_unpack, types),
        partial(_writes, types),
        partial(_finish, types),
    )


def _pack(types: Catalog, obj: Object) -> bytes:
    data = _packed_range(types, obj) if _kind_of(obj) == _RANGE else envelope.dump(obj, types)
    return data[len(PROTOBUF_MAGIC) :]


def _unpack(types: Catalog, data: bytes) -> Object:
    """The object with its type. Raises Malformed, UnknownKind."""
    value: dict[str, Any] = envelope.to_value(PROTOBUF_MAGIC + data, types, _UNTYPED)
    kind = _kind_of(value)
    if kind == _RANGE:
        return value | _unpacked_range(types, envelope.message_of(PROTOBUF_MAGIC + data))
    types.type_for(kind.group, kind.version, kind.kind).apply_defaults(value)
    return value


def _finish(types: Catalog, value: Object) -> Object:
    kind = _kind_of(value)
    if kind == _RANGE:
        return value
    value["metadata"]["resourceVersion"] = _PLACEHOLDER
    found = types.type_for(kind.group, kind.version, kind.kind).canonical(value)
    found["metadata"]["resourceVersion"] = ""
    return found


def _writes(types: Catalog, type_meta: Mapping[str, str]) -> bool:
    if "kind" not in type_meta:
        return False
    kind = _kind_of(type_meta)
    return kind == _RANGE or envelope.has_message(kind, types)


def _packed_range(types: Catalog, obj: Object) -> bytes:
    """The allocated node ports: their type is not in OpenAPI."""
    parts = (
        envelope.part(obj.get("metadata") or {}, _METADATA, types),
        obj.get("range", "").encode(),
        base64.b64decode(obj.get("data") or ""),
    )
    fields = [tag(number, LENGTH) + delimited(part) for number, part in enumerate(parts, 1)]
    return envelope.enclosed(delimited(b"".join(fields)), api_version=_RANGE.api_version, kind=_RANGE.kind)


def _unpacked_range(types: Catalog, message: bytes) -> Object:
    parts = {number: content for number, _, content in read_fields(message)}
    metadata = envelope.part_in(parts.get(1, b""), _METADATA, types)
    found: Object = {"metadata": types.type_of(_METADATA).canonical(metadata), "range": parts.get(2, b"").decode()}
    return {**found, "data": base64.b64encode(parts[3]).decode()} if parts.get(3) else found


def _kind_of(value: Mapping[str, Any]) -> GroupVersionKind:
    group, _, version = value["apiVersion"].rpartition("/")
    return GroupVersionKind(group, version, value["kind"])
