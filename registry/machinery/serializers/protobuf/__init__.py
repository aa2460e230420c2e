"""Protobuf: Kubernetes' binary encoding of its own types, which Go clients prefer."""

from aio_apiserver.registry.machinery.serializers.protobuf.envelope import (
    around,
    dump,
    enclosed,
    has_message,
    message_in,
    to_value,
)

__all__ = ["around", "dump", "enclosed", "has_message", "message_in", "to_value"]
