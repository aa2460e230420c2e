"""What plugins ask about pods: whether a write is about one, and what it consists of. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.admission.interface import Attributes

PODS = GroupResource("", "pods")


def is_pod(attributes: Attributes) -> bool:
    """Whether the write is about a pod itself, not one of its subresources."""
    return attributes.resource == PODS and not attributes.subresource


def containers_with_paths(spec: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
    """All containers with the places at which they stand, those that start first first."""
    for name in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(name) or ()):
            yield container, f"spec.{name}[{index}]"
