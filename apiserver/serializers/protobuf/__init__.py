"""Protobuf: Kubernetes' binary form of its own types, which Go clients prefer."""

from apiserver.serializers.protobuf.envelope import dump, to_value

__all__ = ["dump", "to_value"]
