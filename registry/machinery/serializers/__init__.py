"""Serializers: objects to and from the formats that clients speak. Those of few clients are loaded with the first."""

from typing import TYPE_CHECKING

from aio_apiserver.registry.base.deferred import Deferred

if TYPE_CHECKING:
    from aio_apiserver.registry.machinery.serializers import protobuf, yaml
else:
    protobuf = Deferred("aio_apiserver.registry.machinery.serializers.protobuf")
    yaml = Deferred("aio_apiserver.registry.machinery.serializers.yaml")

__all__ = ["protobuf", "yaml"]
