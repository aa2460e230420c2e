"""PodTopologyLabels: copies the zone and region labels of the node to the pod, for the downward API.

The labels are added by the binding, or with a pod that is created on a node.
"""

from collections.abc import Mapping

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.groups.core.nodes.nodes import NODES
from aio_apiserver.registry.plugins.admission.pod_writes import PODS
from aio_apiserver.storage.interface import Reader

_NODES = NODES.resource
_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


class PodTopologyLabels(Plugin):
    """Reads nodes through a cached lookup. A missing node adds no labels."""

    name = "PodTopologyLabels"
    operations = frozenset({Operation.CREATE})
    resources = frozenset({PODS})

    def __init__(self, nodes: Reader) -> None:
        self._nodes = Lookup(nodes, _NODES, _topology)

    async def mutate(self, attributes: Attributes) -> None:
        if attributes.resource != PODS or attributes.obj is None:
            return
        node = _node_of(attributes)
        topology = await self._nodes.get(node) if node else None
        if topology:
            metadata = attributes.obj.setdefault("metadata", {})
            metadata["labels"] = {**(metadata.get("labels") or {}), **topology}


def _node_of(attributes: Attributes) -> str:
    assert attributes.obj is not None
    if attributes.subresource == "binding":
        target = attributes.obj.get("target") or {}
        return str(target.get("name", "")) if target.get("kind") == "Node" else ""
    return "" if attributes.subresource else str((attributes.obj.get("spec") or {}).get("nodeName") or "")


def _topology(node: Object) -> Mapping[str, str]:
    labels = node["metadata"].get("labels") or {}
    return {name: labels[name] for name in _LABELS if name in labels}
