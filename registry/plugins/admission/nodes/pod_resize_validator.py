"""PodResizeValidator: refuses a resize of a pod that asks for more than its node can allocate."""

from collections.abc import Iterator, Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.errors import Cause
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.groups.core.pods.parts import pod_resources
from aio_apiserver.registry.plugins.admission.nodes.nodes_of_pods import NodesOfPods, changes_pod_on_node
from aio_apiserver.registry.plugins.admission.pod_writes import PODS

_OS_LABEL = "kubernetes.io/os"
_UNITS = {"cpu": 10**6, "memory": 10**9}
"""The nanos in one unit of the error message, by resource."""


class PodResizeValidator(Plugin):
    """Refuses resizes on nodes that do not run Linux."""

    name = "PodResizeValidator"
    operations = frozenset({Operation.UPDATE})
    resources = frozenset({PODS})

    def __init__(self, nodes: NodesOfPods) -> None:
        self._nodes = nodes

    async def validate(self, attributes: Attributes) -> None:
        if attributes.subresource != "resize" or not changes_pod_on_node(attributes):
            return
        assert attributes.obj is not None
        node = await self._nodes.node_of(attributes)
        system = (node["metadata"].get("labels") or {}).get(_OS_LABEL, "linux")
        if system != "linux":
            name = quote(node["metadata"]["name"])
            why = f"pod resize is only supported on linux nodes, node {name} is {quote(system)}"
            raise refusals.forbidden(attributes, why, causes=[Cause("UnsupportedPlatform", "")])
        lacking = "; ".join(_lacking(attributes.obj["spec"], node))
        if lacking:
            why = f"node didn't have enough allocatable resources: {lacking}"
            raise refusals.forbidden(attributes, why, causes=[Cause("NodeCapacity", "")])


def _lacking(spec: Mapping[str, Any], node: Object) -> Iterator[str]:
    allocatable = objects.get(node, "status.allocatable", {})
    containers = pod_resources.aggregate(spec, "requests")
    of_pod, overhead = objects.get(dict(spec), "resources.requests", {}), spec.get("overhead") or {}
    for name, unit in _UNITS.items():
        requested = _nanos(of_pod, name) if name in of_pod else containers[name].nanos if name in containers else 0
        requested += _nanos(overhead, name)
        available = _nanos(allocatable, name)
        if requested > available:
            yield f"{name}, requested: {-(-requested // unit)}, allocatable: {-(-available // unit)}"


def _nanos(amounts: Mapping[str, str], name: str) -> int:
    return quantity.parse(amounts[name]).nanos if name in amounts else 0
