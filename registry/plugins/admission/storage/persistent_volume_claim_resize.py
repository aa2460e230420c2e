"""PersistentVolumeClaimResize: a claim may grow when it is bound and its StorageClass allows volume expansion."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.generic.admission import refusals
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.groups.core.volumes.volume_classes import class_of
from aio_apiserver.registry.groups.storage.storageclasses import STORAGECLASSES
from aio_apiserver.storage.interface import Reader

_CLAIMS = PERSISTENTVOLUMECLAIMS.resource
_CLASSES = STORAGECLASSES.resource
_NOT_BOUND = "Only bound persistent volume claims can be expanded"
_NOT_GROWING = (
    "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize"
)


class PersistentVolumeClaimResize(Plugin):
    """Reads the StorageClass of a claim that grows."""

    name = "PersistentVolumeClaimResize"
    operations = frozenset({Operation.UPDATE})
    resources = frozenset({_CLAIMS})

    def __init__(self, classes: Reader) -> None:
        self._classes = Lookup(classes, _CLASSES, lambda obj: bool(obj.get("allowVolumeExpansion")))

    async def validate(self, attributes: Attributes) -> None:
        if attributes.resource != _CLAIMS or attributes.subresource:
            return
        new, old = attributes.obj, attributes.old
        assert new is not None
        assert old is not None
        if _size(new) <= _size(old):
            return
        if objects.get(old, "status.phase") != "Bound":
            raise refusals.forbidden(attributes, _NOT_BOUND)
        if class_of(new) != class_of(old) or not await self._grows(class_of(new)):
            raise refusals.forbidden(attributes, _NOT_GROWING)

    async def _grows(self, name: str) -> bool:
        return bool(name and await self._classes.get(name))


def _size(claim: Object) -> int:
    text = objects.get(claim, "spec.resources.requests", {}).get("storage")
    return quantity.parse(text).nanos if text is not None else 0
