"""Pod writes: whether a write is of a pod, and the containers of that pod, for admission plugins. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.groups.core.pods.pods import PODS as POD_KIND

PODS = POD_KIND.resource


def is_pod(attributes: Attributes) -> bool:
    """Whether the write is of a pod itself, not of a subresource."""
    return attributes.resource == PODS and not attributes.subresource


def containers_with_paths(spec: Mapping[str, Any]) -> Iterator[tuple[Any, str]]:
    """All containers with their field paths, in the order init containers, containers, ephemeral containers."""
    for name in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(name) or ()):
            yield container, f"spec.{name}[{index}]"
