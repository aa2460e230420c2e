"""LimitPodHardAntiAffinityTopology: refuses required pod anti-affinity whose topology key is not the host name."""

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.errors import Forbidden
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.plugins.admission.pod_writes import PODS, is_pod

_HOSTNAME = "kubernetes.io/hostname"
_TERMS = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"


class LimitPodHardAntiAffinityTopology(Plugin):
    """Checks required terms. Preferred terms may have any topology key."""

    name = "LimitPodHardAntiAffinityTopology"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})
    resources = frozenset({PODS})

    async def validate(self, attributes: Attributes) -> None:
        if not is_pod(attributes):
            return
        assert attributes.obj is not None
        for term in objects.get(attributes.obj, _TERMS, ()):
            key = term.get("topologyKey", "")
            if key != _HOSTNAME:
                why = (
                    f"affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {key} "
                    f"but only key {_HOSTNAME} is allowed"
                )
                raise Forbidden(PODS, attributes.obj["metadata"].get("name", ""), why=why)
