"""cloned_objects: the objects of a cluster as the records of a new store.

Uids, statuses and managed fields stay as they are. Must hold: an owner reference of the copy names an object of the
copy, because the garbage collector deletes objects whose owners do not exist. Objects are decoded by the types of this
server, which drops fields that it does not know. Of custom resources, the metadata is decoded.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.machinery.schema import Catalog, DecodeError, UnknownKind
from aio_apiserver.storage.codec import MSGPACK
from aio_apiserver.storage.errors import NotStorable
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.transformers.transformer import TransformerFor

LEFT_OUT = "left out"
_ANY_KIND = "ConfigMap"
"""A kind whose metadata has a type. All kinds have the same."""
_FIRST = 2
"""The revision of the first write to a store."""


class ClonedResource(Struct, frozen=True):
    """A resource of the cluster. version: the one in which it is stored. place: the part of its keys."""

    group: str
    plural: str
    kind: str
    version: str
    place: str
    is_namespaced: bool
    is_custom: bool = False

    @property
    def name(self) -> str:
        return f"{self.plural}.{self.group}" if self.group else self.plural

    def key(self, metadata: Mapping[str, Any]) -> str:
        """The key of an object, without the prefix."""
        namespace = (metadata["namespace"],) if self.is_namespaced else ()
        return "/".join((self.place, *namespace, metadata["name"]))


class ClonedStore(Struct, frozen=True):
    """The records of a copy, in order of their keys. dropped: the owner references that were left out."""

    prefix: bytes
    written: Sequence[Record]
    dropped: int

    @property
    def count(self) -> int:
        return len(self.written)

    @property
    def revision(self) -> int:
        return len(self.written) + _FIRST - 1

    async def records(self) -> AsyncIterator[Record]:
        for record in self.written:
            yield record

    async def lease_seconds(self, _lease: int) -> int:
        return 0


class ClonedObjects:
    """Collects objects."""

    def __init__(self, types: Catalog) -> None:
        self._types = types
        self._objects: dict[str, tuple[ClonedResource, bytes]] = {}
        """Encoded, which takes less memory."""
        self._uids = set[Any]()

    def add(self, resource: ClonedResource, item: dict[str, Any]) -> str:
        """Add an object. Returns why it was changed or left out; empty for neither."""
        item["apiVersion"] = f"{resource.group}/{resource.version}" if resource.group else resource.version
        item["kind"] = resource.kind
        try:
            obj, problem = self._decoded_custom(item) if resource.is_custom else self._decoded(resource, item)
            obj["metadata"]["resourceVersion"] = ""
            encoded = MSGPACK.encode(obj)
        except (DecodeError, NotStorable, UnknownKind) as exc:
            return f"{LEFT_OUT}: {exc}"
        self._uids.add(obj["metadata"].get("uid"))
        self._objects[resource.key(item["metadata"])] = resource, encoded
        return problem

    async def store(self, prefix: bytes, transformer_for: TransformerFor) -> ClonedStore:
        """The records of all objects."""
        dropped, records = 0, []
        for revision, path in enumerate(sorted(self._objects), _FIRST):
            resource, encoded = self._objects.pop(path)
            obj = MSGPACK.unpack(encoded.removeprefix(MSGPACK.magic))
            strangers = _drop_strangers(obj["metadata"], self._uids)
            dropped += strangers
            key = prefix + path.encode()
            plain = MSGPACK.encode(obj) if strangers else encoded
            value = await transformer_for(resource.group, resource.plural).to_storage(plain, key)
            records.append(Record(key, value, revision, revision, 1))
        return ClonedStore(prefix, records, dropped)

    def _decoded_custom(self, item: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """A custom resource with the metadata that this server stores. Raises DecodeError."""
        alone = self._types.type_for("", "v1", _ANY_KIND).decode({"metadata": item["metadata"]})
        return {**item, "metadata": alone.obj["metadata"]}, "; ".join(alone.strict_errors)

    def _decoded(self, resource: ClonedResource, item: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """The object as this server stores it. Raises DecodeError, UnknownKind."""
        found = self._types.type_for(resource.group, resource.version, resource.kind)
        decoded = found.decode(item)
        hub = found.canonical(decoded.obj)
        return {"kind": item["kind"], "apiVersion": item["apiVersion"], **hub}, "; ".join(decoded.strict_errors)


def _drop_strangers(metadata: dict[str, Any], uids: set[Any]) -> int:
    """Remove the references to owners that are not in the copy. Returns how many they were."""
    references = metadata.get("ownerReferences") or []
    kept = [one for one in references if one.get("uid") in uids]
    if len(kept) < len(references):
        metadata["ownerReferences"] = kept
        if not kept:
            del metadata["ownerReferences"]
    return len(references) - len(kept)
