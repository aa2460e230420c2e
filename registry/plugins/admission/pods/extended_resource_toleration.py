"""ExtendedResourceToleration: lets pods that request extended resources run on nodes that are tainted with the name of
the resource.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import resource_names
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.plugins.admission.pod_writes import PODS, is_pod


class ExtendedResourceToleration(Plugin):
    """Adds one toleration for each extended resource that the pod requests."""

    name = "ExtendedResourceToleration"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})
    resources = frozenset({PODS})

    async def mutate(self, attributes: Attributes) -> None:
        if not is_pod(attributes):
            return
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        for name in sorted(set(filter(resource_names.is_extended, _requested(spec)))):
            _tolerate(spec, {"key": name, "operator": "Exists", "effect": "NoSchedule"})


def _requested(spec: Object) -> list[str]:
    return [
        name
        for member in ("containers", "initContainers")
        for container in spec.get(member) or ()
        for name in (container.get("resources") or {}).get("requests") or ()
    ]


def _tolerate(spec: Object, toleration: Object) -> None:
    """Add a toleration, or replace those that are equal but for tolerationSeconds."""
    present = spec.get("tolerations") or []
    if toleration in present:
        return
    replaced = [toleration if _is_same(one, toleration) else one for one in present]
    spec["tolerations"] = replaced if replaced != present else [*present, toleration]


def _is_same(one: Object, other: Object) -> bool:
    return all(one.get(name, "") == other.get(name, "") for name in ("key", "effect", "operator", "value"))
