"""VersionedStorage: the storage of one custom resource, as each of its versions sees it.

Objects are kept in the storage version; those that were stored as another version are read as what they were and
converted. Must hold: a version that is the stored one, or looks like it, reads the stored bytes without decoding them.
"""

from collections.abc import Mapping

from registry.customresources.definition import Definition
from registry.schema.custom_type import CustomType
from storage.interface import Resource, Storage
from storage.stored_object import Object


class VersionedStorage:
    """Gives each version its view of one storage."""

    def __init__(self, storage: Storage, definition: Definition) -> None:
        self.storage = storage
        self._definition = definition

    def of_version(self, version: str) -> Storage:
        """The storage of objects in a version."""
        return self.storage


def resource_of(definition: Definition, types: Mapping[str, CustomType]) -> Resource:
    """What storage has to know of a custom resource."""
    stored = definition.storage_version
    api_version = f"{definition.group}/{stored}"

    def restore(obj: Object) -> Object:
        obj.pop("kind", None)
        version = str(obj.pop("apiVersion", "")).rpartition("/")[2]
        return types.get(version, types[stored]).restore(obj)

    return Resource(
        group=definition.group,
        resource=definition.accepted["plural"],
        namespaced=definition.is_namespaced,
        type_meta={"kind": definition.accepted["kind"], "apiVersion": api_version},
        restore=restore,
    )
