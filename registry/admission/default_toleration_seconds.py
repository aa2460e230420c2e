"""DefaultTolerationSeconds: pods stay a while on a node that is not ready or not reached, unless they say how long."""

from registry.admission.interface import Attributes, Operation, Plugin
from registry.names import GroupResource
from storage.stored_object import Object

_PODS = GroupResource("", "pods")
_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_EFFECT = "NoExecute"
_SECONDS = 300


class DefaultTolerationSeconds(Plugin):
    """Adds the tolerations that a pod lacks, also when an update takes them away."""

    name = "DefaultTolerationSeconds"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})

    async def mutate(self, attributes: Attributes) -> None:
        if attributes.resource != _PODS or attributes.subresource:
            return
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        tolerations = spec.get("tolerations") or []
        missing = [_toleration(taint) for taint in _TAINTS if not any(_tolerates(one, taint) for one in tolerations)]
        if missing:
            spec["tolerations"] = [*tolerations, *missing]


def _tolerates(toleration: Object, taint: str) -> bool:
    """Without a key, or without an effect, it means all of them."""
    return toleration.get("key", "") in {taint, ""} and toleration.get("effect", "") in {_EFFECT, ""}


def _toleration(taint: str) -> Object:
    return {"key": taint, "operator": "Exists", "effect": _EFFECT, "tolerationSeconds": _SECONDS}
