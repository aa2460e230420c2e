"""TaintNodesByCondition: taints a new node as not ready, so that no pod is scheduled before the node is ready."""

from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.groups.core.nodes.nodes import NODES

_NODES = NODES.resource
_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class TaintNodesByCondition(Plugin):
    """Adds the taint, which the node lifecycle controller removes."""

    name = "TaintNodesByCondition"
    operations = frozenset({Operation.CREATE})
    resources = frozenset({_NODES})

    async def mutate(self, attributes: Attributes) -> None:
        if attributes.resource != _NODES or attributes.subresource:
            return
        assert attributes.obj is not None
        spec = attributes.obj.setdefault("spec", {})
        taints = spec.get("taints") or []
        if not any(all(taint.get(name) == value for name, value in _NOT_READY.items()) for taint in taints):
            spec["taints"] = [*taints, dict(_NOT_READY)]
