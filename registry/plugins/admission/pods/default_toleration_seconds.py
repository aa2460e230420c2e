"""DefaultTolerationSeconds: lets pods tolerate the taints not-ready and unreachable for a time, by default 300 s."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.plugins.admission.pod_writes import PODS, is_pod

_NOT_READY = "node.kubernetes.io/not-ready"
_UNREACHABLE = "node.kubernetes.io/unreachable"
_EFFECT = "NoExecute"


def make(given: Foundation) -> "DefaultTolerationSeconds":
    """The plugin with the seconds of its flags."""
    config = given.config
    return DefaultTolerationSeconds(
        not_ready_seconds=config.not_ready_toleration_seconds, unreachable_seconds=config.unreachable_toleration_seconds
    )


class DefaultTolerationSeconds(Plugin):
    """Adds the tolerations that a pod lacks, also after an update has removed them."""

    name = "DefaultTolerationSeconds"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})
    resources = frozenset({PODS})

    def __init__(self, *, not_ready_seconds: int = 300, unreachable_seconds: int = 300) -> None:
        self._seconds = {_NOT_READY: not_ready_seconds, _UNREACHABLE: unreachable_seconds}

    async def mutate(self, attributes: Attributes) -> None:
        if not is_pod(attributes):
            return
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        tolerations = spec.get("tolerations") or []
        missing = []
        for taint, seconds in self._seconds.items():
            if not tolerations or not any(_tolerates(one, taint) for one in tolerations):
                missing.append(_toleration(taint, seconds))
        if missing:
            spec["tolerations"] = [*tolerations, *missing]


def _tolerates(toleration: Object, taint: str) -> bool:
    """An empty key or effect of a toleration matches every key or effect."""
    return toleration.get("key", "") in {taint, ""} and toleration.get("effect", "") in {_EFFECT, ""}


def _toleration(taint: str, seconds: int) -> Object:
    return {"key": taint, "operator": "Exists", "effect": _EFFECT, "tolerationSeconds": seconds}
