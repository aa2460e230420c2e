"""Protobuf: Kubernetes' binary form of its own types, which Go clients prefer."""

from aio_apiserver.registry.machinery.serializers.protobuf.envelope import dump, has_message, to_value

__all__ = ["dump", "has_message", "to_value"]
