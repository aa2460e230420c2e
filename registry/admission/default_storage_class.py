"""DefaultStorageClass: a claim that asks for no class gets the default one, if there is one."""

from registry.admission.interface import Attributes, Operation, Plugin
from registry.generic.interpret import Operation as Reading
from registry.generic.interpret import interpreted
from registry.names import GroupResource
from registry.storageclasses.storageclasses import BETA_IS_DEFAULT, CLASS_ANNOTATION, IS_DEFAULT
from storage.interface import ListOptions, Storage
from storage.stored_object import Object

_CLAIMS = GroupResource("", "persistentvolumeclaims")
_CLASSES = GroupResource("storage.k8s.io", "storageclasses")


class DefaultStorageClass(Plugin):
    """Of several defaults the newest counts."""

    name = "DefaultStorageClass"
    operations = frozenset({Operation.CREATE})

    def __init__(self, classes: Storage) -> None:
        self._classes = classes

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
        listing = self._classes.get_list("", ListOptions(resource_version=0))
        items = (await interpreted(listing, Reading(_CLASSES, "list"))).items
        defaults = [metadata for item in items if _is_default(metadata := item.decode()["metadata"])]
        newest = max((metadata["creationTimestamp"] for metadata in defaults), default="")
        return min((one["name"] for one in defaults if one["creationTimestamp"] == newest), default="")


def _is_default(metadata: Object) -> bool:
    annotations = metadata.get("annotations") or {}
    return any(annotations.get(name) == "true" for name in (IS_DEFAULT, BETA_IS_DEFAULT))
