"""Serializers: objects to and from the formats that clients speak. Those of few clients are loaded with the first."""

from typing import TYPE_CHECKING

from registry.deferred import Deferred

if TYPE_CHECKING:
    from apiserver.serializers import protobuf, yaml
else:
    protobuf = Deferred("apiserver.serializers.protobuf")
    yaml = Deferred("apiserver.serializers.yaml")

__all__ = ["protobuf", "yaml"]
