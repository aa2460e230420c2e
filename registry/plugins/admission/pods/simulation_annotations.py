"""SimulationAnnotations: warns clients of annotations that a simulated cluster does not understand.

It runs in servers with `--simulate`, and is no plugin of kube-apiserver. Must hold: it refuses and changes nothing.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.plugins.simulation import annotations as simulation

_OWN = {GroupResource(group, resource): known for (group, resource), known in simulation.ANNOTATIONS.items()}
_PODS = simulation.ANNOTATIONS["", "pods"]
_TEMPLATES: Mapping[GroupResource, tuple[str, ...]] = {
    **{
        GroupResource("apps", plural): ("spec", "template")
        for plural in ("deployments", "replicasets", "statefulsets", "daemonsets")
    },
    GroupResource("", "replicationcontrollers"): ("spec", "template"),
    GroupResource("", "podtemplates"): ("template",),
    GroupResource("batch", "jobs"): ("spec", "template"),
    GroupResource("batch", "cronjobs"): ("spec", "jobTemplate", "spec", "template"),
}


class SimulationAnnotations(Plugin):
    """Warns of wrong values and of unknown names."""

    name = "SimulationAnnotations"
    operations = frozenset({Operation.CREATE, Operation.UPDATE})
    resources = frozenset({*_OWN, *_TEMPLATES})

    async def validate(self, attributes: Attributes) -> None:
        if attributes.subresource or attributes.obj is None:
            return
        before = set(_warnings(attributes.resource, attributes.old)) if attributes.old is not None else ()
        for warning in _warnings(attributes.resource, attributes.obj):
            if warning not in before:
                attributes.warn(warning)


def _warnings(resource: GroupResource, obj: Object) -> Iterator[str]:
    known = _OWN.get(resource)
    if known is not None:
        yield from simulation.warnings(known, _annotations(obj), "metadata.annotations")
        return
    path = _TEMPLATES[resource]
    template: Any = obj
    for name in path:
        template = (template or {}).get(name)
    where = f"{'.'.join(path)}.metadata.annotations"
    yield from simulation.warnings(_PODS, _annotations(template or {}), where)


def _annotations(obj: Mapping[str, Any]) -> Mapping[str, str]:
    found: Mapping[str, str] = (obj.get("metadata") or {}).get("annotations") or {}
    return found
