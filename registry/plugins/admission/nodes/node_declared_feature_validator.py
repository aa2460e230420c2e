"""NodeDeclaredFeatureValidator: refuses an update of a pod that needs a feature which its node does not declare."""

from collections.abc import Callable, Mapping
from typing import Any

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.plugins.admission.nodes.nodes_of_pods import NodesOfPods, changes_pod_on_node
from aio_apiserver.registry.plugins.admission.pod_writes import PODS

Spec = Mapping[str, Any]


def _resizes_pod(new: Spec, old: Spec) -> bool:
    """Whether the pod-level resources change."""
    return bool(new.get("resources") != old.get("resources"))


def _resizes_init_containers(new: Spec, old: Spec) -> bool:
    """Whether resources of init containers change. Restartable init containers are resized like other containers."""
    pairs = zip(new.get("initContainers") or (), old.get("initContainers") or (), strict=False)
    return any(
        one.get("resources") != before.get("resources")
        for one, before in pairs
        if before.get("restartPolicy") != "Always"
    )


_FEATURES: Mapping[str, Callable[[Spec, Spec], bool]] = {
    "InPlacePodLevelResourcesVerticalScaling": _resizes_pod,
    "InPlacePodVerticalScalingInitContainers": _resizes_init_containers,
}
"""Whether an update needs a feature, by the name of the feature."""


class NodeDeclaredFeatureValidator(Plugin):
    """Compares with `status.declaredFeatures` of the node."""

    name = "NodeDeclaredFeatureValidator"
    operations = frozenset({Operation.UPDATE})
    resources = frozenset({PODS})

    def __init__(self, nodes: NodesOfPods) -> None:
        self._nodes = nodes

    async def validate(self, attributes: Attributes) -> None:
        if attributes.subresource not in {"", "resize"} or not changes_pod_on_node(attributes):
            return
        assert attributes.obj is not None
        assert attributes.old is not None
        new, old = attributes.obj["spec"], attributes.old["spec"]
        needed = [name for name, is_needed in _FEATURES.items() if is_needed(new, old)]
        if not needed:
            return
        node = await self._nodes.node_of(attributes)
        missing = [name for name in needed if name not in objects.get(node, "status.declaredFeatures", ())]
        if missing:
            name = quote(node["metadata"]["name"])
            why = f"pod update requires features {', '.join(missing)} which are not available on node {name}"
            raise refusals.forbidden(attributes, why)
