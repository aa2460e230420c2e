"""Nodes of pods: reads the node of a pod, for plugins that check an update against it."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.lookups import Lookup, as_stored
from aio_apiserver.registry.groups.core.nodes.nodes import NODES
from aio_apiserver.registry.plugins.admission.pod_writes import PODS
from aio_apiserver.storage.interface import Reader

_NODES = NODES.resource


class NodesOfPods:
    """Reads nodes through a cached lookup."""

    def __init__(self, nodes: Reader) -> None:
        self._nodes = Lookup(nodes, _NODES, as_stored)

    async def node_of(self, attributes: Attributes) -> Object:
        """The node of the pod in a write. Raises Forbidden when there is no such node."""
        assert attributes.obj is not None
        name = attributes.obj["spec"]["nodeName"]
        node = await self._nodes.get(name)
        if node is None:
            raise refusals.forbidden(attributes, f"node {quote(name)} not found")
        return node


def changes_pod_on_node(attributes: Attributes) -> bool:
    """Whether a write changes the spec of a pod that is bound to a node."""
    if attributes.resource != PODS or attributes.obj is None or attributes.old is None:
        return False
    new, old = attributes.obj, attributes.old
    is_changed = new["metadata"].get("generation") != old["metadata"].get("generation")
    return is_changed and bool(new["spec"].get("nodeName"))
