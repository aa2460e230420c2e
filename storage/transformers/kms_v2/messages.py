"""Messages: the protobuf messages of KMS v2: the plugin's API, and the stored EncryptedObject.

The message classes are built from a table at import, in a descriptor pool of their own. Must hold: numbers and types
are those of k8s.io/kms/apis/v2 and of kube-apiserver's EncryptedObject.
"""

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

_FIELD: Final = descriptor_pb2.FieldDescriptorProto
_ANNOTATIONS: Final = "annotations"

_MESSAGES: Mapping[str, Mapping[str, tuple[int, "descriptor_pb2.FieldDescriptorProto.Type.ValueType"]]] = {
    "StatusRequest": {},
    "StatusResponse": {
        "version": (1, _FIELD.TYPE_STRING),
        "healthz": (2, _FIELD.TYPE_STRING),
        "key_id": (3, _FIELD.TYPE_STRING),
    },
    "EncryptRequest": {
        "plaintext": (1, _FIELD.TYPE_BYTES),
        "uid": (2, _FIELD.TYPE_STRING),
    },
    "EncryptResponse": {
        "ciphertext": (1, _FIELD.TYPE_BYTES),
        "key_id": (2, _FIELD.TYPE_STRING),
        _ANNOTATIONS: (3, _FIELD.TYPE_MESSAGE),
    },
    "DecryptRequest": {
        "ciphertext": (1, _FIELD.TYPE_BYTES),
        "uid": (2, _FIELD.TYPE_STRING),
        "key_id": (3, _FIELD.TYPE_STRING),
        _ANNOTATIONS: (4, _FIELD.TYPE_MESSAGE),
    },
    "DecryptResponse": {
        "plaintext": (1, _FIELD.TYPE_BYTES),
    },
    "EncryptedObject": {
        "encrypted_data": (1, _FIELD.TYPE_BYTES),
        "key_id": (2, _FIELD.TYPE_STRING),
        "encrypted_dek_source": (3, _FIELD.TYPE_BYTES),
        _ANNOTATIONS: (4, _FIELD.TYPE_MESSAGE),
        "encrypted_dek_source_type": (5, _FIELD.TYPE_INT32),
    },
}


def encode(name: str, /, **fields: Any) -> bytes:
    """The encoded message; maps are sorted by key."""
    return _CLASSES[name](**fields).SerializeToString(deterministic=True)


def decode(name: str, data: bytes) -> Any:
    """The decoded message with fields as attributes. Raises ValueError."""
    try:
        return _CLASSES[name].FromString(data)
    except DecodeError as exc:
        raise ValueError(f"not a protobuf {name}") from exc


def _build() -> dict[str, type[Message]]:
    file = descriptor_pb2.FileDescriptorProto(name="kms_v2.proto", package="v2", syntax="proto3")
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            message.field.add(name=field, number=number, type=kind, label=_FIELD.LABEL_OPTIONAL)
            if field == _ANNOTATIONS:
                _make_map(message, message.field[-1])
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"v2.{name}")) for name in _MESSAGES}


def _make_map(message: descriptor_pb2.DescriptorProto, field: descriptor_pb2.FieldDescriptorProto) -> None:
    """Make the field a map<string, bytes>: on the wire, repeated entries with key 1 and value 2."""
    entry = message.nested_type.add(name="AnnotationsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=_FIELD.TYPE_STRING, label=_FIELD.LABEL_OPTIONAL)
    entry.field.add(name="value", number=2, type=_FIELD.TYPE_BYTES, label=_FIELD.LABEL_OPTIONAL)
    field.label = _FIELD.LABEL_REPEATED
    field.type_name = f".v2.{message.name}.{entry.name}"


_CLASSES = _build()
