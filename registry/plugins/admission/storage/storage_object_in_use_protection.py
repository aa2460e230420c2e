"""StorageObjectInUseProtection: adds a finalizer to new claims, volumes and volume attributes classes. A controller
removes it.
"""

from collections.abc import Mapping

from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation, Plugin
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.groups.core.volumes.persistentvolumes import PERSISTENTVOLUMES
from aio_apiserver.registry.groups.storage.volumeattributesclasses import VOLUMEATTRIBUTESCLASSES

_FINALIZERS: Mapping[GroupResource, str] = {
    PERSISTENTVOLUMECLAIMS.resource: "kubernetes.io/pvc-protection",
    PERSISTENTVOLUMES.resource: "kubernetes.io/pv-protection",
    VOLUMEATTRIBUTESCLASSES.resource: "kubernetes.io/vac-protection",
}


class StorageObjectInUseProtection(Plugin):
    """Adds the finalizer to a new object."""

    name = "StorageObjectInUseProtection"
    operations = frozenset({Operation.CREATE})
    resources = frozenset(_FINALIZERS)

    async def mutate(self, attributes: Attributes) -> None:
        finalizer = _FINALIZERS.get(attributes.resource)
        if finalizer is None or attributes.subresource:
            return
        assert attributes.obj is not None
        metadata = attributes.obj["metadata"]
        present = metadata.get("finalizers") or []
        if finalizer not in present:
            metadata["finalizers"] = [*present, finalizer]
