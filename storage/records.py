"""Records: the two forms of an object, as a record of the kv engine and as a StoredObject, for one resource.

The only place that knows where the keys of the resource begin, which codec writes, and that a transformer stands
between. Reading transforms at once and decodes when somebody looks.

Must hold: reading is cheap enough for every event of a watch (some microseconds when nothing is encrypted); what
cannot be read is Corrupt and names the whole key; what was written with another codec or key than this server writes
is stale.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence

from storage import codec as codecs
from storage import versioner, worker_thread
from storage.codec import Codec
from storage.errors import Corrupt, InvalidOptions
from storage.interface import Resource
from storage.kv.interface import Record, prefix_end
from storage.stored_object import Object, Reader, StoredObject
from storage.transformer import ENCRYPTED_PREFIX, Plain, Transformer
from storage.worker_thread import LONG, STORE


class Records:
    """Reads and writes the records below one prefix."""

    def __init__(self, resource: Resource, prefix: str, *, codec: Codec, transformer: Transformer) -> None:
        if not prefix.endswith("/"):
            raise ValueError(f"the prefix of a resource's keys ends with a slash: {prefix!r}")
        self._prefix = prefix.encode()
        self._type_meta = dict(resource.type_meta)
        self._translation = resource.translation
        self._reduced = resource.reduced
        self._codec = codec
        self._transformer = transformer
        self._reader = reader_of(resource)
        self._own: dict[int, StoredObject] = {}
        """What was written here and is large, by revision."""

    @property
    def is_translated(self) -> bool:
        """Whether what is written may read back as something else."""
        return self._translation is not None

    def key_of(self, key: str) -> bytes:
        """The kv key of one object. Raises InvalidOptions for what cannot be a key."""
        if any(part in _NO_PARTS for part in key.split("/")):
            raise InvalidOptions(f"invalid key: {key!r}")
        return self._prefix + _encoded(key)

    def range_of(self, key: str, *, recursive: bool) -> tuple[bytes, bytes]:
        """The range of kv keys that a list or watch of `key` covers."""
        if not recursive:
            start = self.key_of(key)
            return start, start + b"\0"
        if not key:
            return self._prefix, prefix_end(self._prefix)
        if not key.endswith("/"):
            raise InvalidOptions(f"the key of a list ends with a slash: {key!r}")
        start = self.key_of(key[:-1]) + b"/"
        return start, prefix_end(start)

    def relative(self, key: bytes) -> str:
        """The key as callers know it."""
        return key[len(self._prefix) :].decode("utf-8", "backslashreplace")

    async def read(self, record: Record) -> StoredObject:
        """The object in a record, not yet decoded. Raises Corrupt, Unavailable."""
        return await self.read_state(record, record.mod_revision)

    async def read_state(self, record: Record, revision: int) -> StoredObject:
        """The same, to be shown under another revision: the last state of what was deleted then."""
        data = record.value
        is_large = len(data) >= LONG
        if is_large and revision in self._own:
            return self._own.pop(revision)
        key, is_plain = self.relative(record.key), self._translation is None and self._transformer.is_identity
        if is_plain and not data.startswith(ENCRYPTED_PREFIX):
            is_stale = codecs.codec_of(data) is not self._codec
            stored = StoredObject(key, revision, data, self._reader, is_stale=is_stale)
        else:
            stored = await self.shown(key, revision, await self.opened(record))
        if is_large:
            with contextlib.suppress(Corrupt):  # it comes up when somebody looks
                await worker_thread.run(stored.hydrate, STORE)
        return stored

    async def opened(self, record: Record) -> Plain:
        """What a record says, read with the key that it was written with. Raises Corrupt, Unavailable."""
        data = record.value
        is_stale = False
        if data.startswith(ENCRYPTED_PREFIX) or not self._transformer.is_identity:
            plain = await self._transformer.from_storage(data, record.key)
            data, is_stale = plain.data, plain.is_stale
        return Plain(data, is_stale or codecs.codec_of(data) is not self._codec)

    async def shown(self, key: str, revision: int, plain: Plain) -> StoredObject:
        """The object that a value stands for. Raises Untranslatable, and Corrupt where others translate."""
        data = plain.data
        if self._translation is not None:
            data = self._codec.encode(await self._translation.from_stored(self._decoded(key, data)))
        return StoredObject(key, revision, data, self._reader, is_stale=plain.is_stale)

    def reduced(self, obj: Object) -> Object:
        """What is kept of an object, which is used up."""
        return obj if self._reduced is None else self._reduced(obj)

    async def value_of(self, obj: Object) -> bytes:
        """What to store of an object, whose resourceVersion is cleared. Raises NotStorable, Untranslatable."""
        return self._codec.encode(
            self._type_meta | obj if self._translation is None else await self._translation.to_stored(obj)
        )

    async def sealed(self, key: bytes, value: bytes) -> bytes:
        """A value as the store gets it. Raises Unavailable."""
        return value if self._transformer.is_identity else await self._transformer.to_storage(value, key)

    async def preview(self, key: str, obj: Object) -> StoredObject:
        """An object as it would read back, under the resourceVersion that it carries."""
        revision = versioner.claimed_version(obj)
        if self._translation is None:
            return self._read_back(key, revision, obj)
        return await self.shown(key, revision, Plain(await self.value_of(obj), is_stale=False))

    def _decoded(self, key: str, data: bytes) -> Object:
        try:
            return codecs.decode(data)
        except ValueError as exc:
            raise Corrupt(key, f"{self._reader.resource}: {exc}") from exc

    def written(self, key: str, revision: int, obj: Object) -> StoredObject:
        """The object that was just written."""
        stored = self._read_back(key, revision, obj)
        if len(stored.json) >= LONG:
            self._remember(stored)
        return stored

    def _read_back(self, key: str, revision: int, obj: Object) -> StoredObject:
        """What others will read: where something else is kept of an object than itself, that has to be read."""
        if self._reduced is None:
            return StoredObject.of(key, revision, obj, self._reader)
        return StoredObject(key, revision, self._codec.encode(self._type_meta | obj), self._reader)

    def _remember(self, stored: StoredObject) -> None:
        """Keep a large object until it comes by in a watch, where decoding it would hold up everybody."""
        while len(self._own) >= _MOST_OWN:
            del self._own[next(iter(self._own))]
        self._own[stored.revision] = stored


_NO_PARTS = frozenset(("", ".", ".."))
_MOST_OWN = 8


def reader_of(resource: Resource) -> Reader:
    """How the objects of a resource are read: fields are its own, its name and, if it has one, its namespace."""
    name = f"{resource.resource}.{resource.group}" if resource.group else resource.resource
    fields = _namespaced(resource) if resource.namespaced else _unscoped(resource)
    return Reader(_decoder_of(resource), fields, name)


def _decoder_of(resource: Resource) -> Callable[[bytes], Object]:
    if resource.translation is not None:
        return codecs.decode
    if resource.restore is not None:
        return _restored(resource.restore)
    return _untyped(tuple(resource.type_meta)) if resource.type_meta else codecs.decode


def _untyped(type_meta: Sequence[str]) -> Callable[[bytes], Object]:
    """Decoding that takes off what `write` puts on."""

    def decode(data: bytes) -> Object:
        obj = codecs.decode(data)
        for member in type_meta:
            obj.pop(member, None)
        return obj

    return decode


def _restored(restore: Callable[[Object], Object]) -> Callable[[bytes], Object]:
    return lambda data: restore(codecs.decode(data))


def _namespaced(resource: Resource) -> Callable[[Object], Mapping[str, str]]:
    more = resource.fields

    def fields(obj: Object) -> Mapping[str, str]:
        metadata = obj["metadata"]
        own = {"metadata.name": metadata.get("name", ""), "metadata.namespace": metadata.get("namespace", "")}
        return {**own, **more(obj)}

    return fields


def _unscoped(resource: Resource) -> Callable[[Object], Mapping[str, str]]:
    more = resource.fields

    def fields(obj: Object) -> Mapping[str, str]:
        return {"metadata.name": obj["metadata"].get("name", ""), **more(obj)}

    return fields


def _encoded(key: str) -> bytes:
    try:
        return key.encode()
    except UnicodeEncodeError as exc:
        raise InvalidOptions(f"invalid key: {key!r}") from exc
