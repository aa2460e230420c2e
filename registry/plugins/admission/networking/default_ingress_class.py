"""DefaultIngressClass: gives an ingress without a class the default IngressClass, if there is one."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.groups.networking.ingressclasses import DEFAULT_ANNOTATION, INGRESSCLASSES
from aio_apiserver.registry.groups.networking.ingresses import CLASS_ANNOTATION, INGRESSES
from aio_apiserver.storage.interface import Reader

_INGRESSES = INGRESSES.resource
_CLASSES = INGRESSCLASSES.resource


class DefaultIngressClass(Plugin):
    """Uses the newest of several default classes."""

    name = "DefaultIngressClass"
    operations = frozenset({Operation.CREATE})
    resources = frozenset({_INGRESSES})

    def __init__(self, classes: Reader) -> None:
        self._defaults: Lookup[Object | None] = Lookup(classes, _CLASSES, _default_metadata)

    async def mutate(self, attributes: Attributes) -> None:
        if attributes.resource != _INGRESSES or attributes.subresource:
            return
        assert attributes.obj is not None
        spec, annotations = attributes.obj.setdefault("spec", {}), attributes.obj["metadata"].get("annotations") or {}
        if spec.get("ingressClassName") is not None or CLASS_ANNOTATION in annotations:
            return
        name = await self._default()
        if name is not None:
            spec["ingressClassName"] = name

    async def _default(self) -> str | None:
        defaults = [one for one in await self._defaults.list() if one is not None]
        by_age = sorted(defaults, key=lambda one: (one["creationTimestamp"], one["name"]))
        if not by_age:
            return None
        newest = by_age[-1]["creationTimestamp"]
        return next(str(one["name"]) for one in by_age if one["creationTimestamp"] == newest)


def _default_metadata(ingress_class: Object) -> Object | None:
    """The metadata of a class that is marked as default; None for other classes."""
    metadata: Object = ingress_class["metadata"]
    return metadata if (metadata.get("annotations") or {}).get(DEFAULT_ANNOTATION) == "true" else None
