"""DefaultStorageClass: gives a claim without a storage class the default StorageClass, if there is one."""

from typing import NamedTuple

from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.generic.lookups import Lookup
from aio_apiserver.registry.groups.core.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.groups.core.volume_classes import CLASS_ANNOTATION
from aio_apiserver.registry.groups.storage.storageclasses import BETA_IS_DEFAULT, IS_DEFAULT, STORAGECLASSES
from aio_apiserver.storage.interface import Reader
from aio_apiserver.storage.stored_object import Object

_CLAIMS = PERSISTENTVOLUMECLAIMS.resource
_CLASSES = STORAGECLASSES.resource


class _Class(NamedTuple):
    """The facts of a StorageClass that choose the default."""

    name: str
    created: str
    is_default: bool


class DefaultStorageClass(Plugin):
    """Uses the newest of several default classes."""

    name = "DefaultStorageClass"
    operations = frozenset({Operation.CREATE})
    resources = frozenset({_CLAIMS})

    def __init__(self, classes: Reader) -> None:
        self._classes = Lookup(classes, _CLASSES, _class)

    async def mutate(self, attributes: Attributes) -> None:
        if attributes.resource != _CLAIMS or attributes.subresource:
            return
        assert attributes.obj is not None
        annotations = attributes.obj["metadata"].get("annotations") or {}
        spec = attributes.obj.setdefault("spec", {})
        if spec.get("storageClassName") is not None or CLASS_ANNOTATION in annotations:
            return
        name = await self._default()
        if name:
            spec["storageClassName"] = name

    async def _default(self) -> str:
        defaults = [one for one in await self._classes.list() if one.is_default]
        newest = max((one.created for one in defaults), default="")
        return min((one.name for one in defaults if one.created == newest), default="")


def _class(obj: Object) -> _Class:
    metadata = obj["metadata"]
    annotations = metadata.get("annotations") or {}
    is_default = any(annotations.get(name) == "true" for name in (IS_DEFAULT, BETA_IS_DEFAULT))
    return _Class(metadata["name"], metadata["creationTimestamp"], is_default)
