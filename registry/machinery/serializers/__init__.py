"""Serializers: objects in protobuf and YAML. Each is loaded at its first use."""

from typing import TYPE_CHECKING

from aio_apiserver.registry.base.deferred import Deferred

if TYPE_CHECKING:
    from aio_apiserver.registry.machinery.serializers import protobuf, yaml
else:
    protobuf = Deferred("aio_apiserver.registry.machinery.serializers.protobuf")
    yaml = Deferred("aio_apiserver.registry.machinery.serializers.yaml")

__all__ = ["protobuf", "yaml"]
