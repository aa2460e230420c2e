"""DefaultStorageClass: gives a claim without a storage class the default StorageClass, if there is one."""

from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.groups.core.volumes.volume_classes import CLASS_ANNOTATION
from aio_apiserver.registry.groups.storage.storageclasses import STORAGECLASSES, ClassRank, default_of
from aio_apiserver.storage.interface import Reader

_CLAIMS = PERSISTENTVOLUMECLAIMS.resource
_CLASSES = STORAGECLASSES.resource


class DefaultStorageClass(Plugin):
    """Uses the newest of several default classes."""

    name = "DefaultStorageClass"
    operations = frozenset({Operation.CREATE})
    resources = frozenset({_CLAIMS})

    def __init__(self, classes: Reader) -> None:
        self._classes = Lookup(classes, _CLASSES, ClassRank.of)

    async def mutate(self, attributes: Attributes) -> None:
        if attributes.resource != _CLAIMS or attributes.subresource:
            return
        assert attributes.obj is not None
        annotations = attributes.obj["metadata"].get("annotations") or {}
        spec = attributes.obj.setdefault("spec", {})
        if spec.get("storageClassName") is not None or CLASS_ANNOTATION in annotations:
            return
        name = default_of(await self._classes.list())
        if name:
            spec["storageClassName"] = name
