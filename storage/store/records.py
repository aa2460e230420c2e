"""Records: converts between records of the kv engine and StoredObjects, for one resource.

It knows the key prefix of the resource, its codec and its transformer. A read transforms (decrypts) at once, and
decodes at the first use of the object.

Must hold: a read is cheap enough for every watch event (some microseconds without encryption). A value that cannot be
read raises Corrupt with its whole key. A value written with another codec or key than the present one is stale.
"""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from aio_apiserver.base import worker_thread
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.worker_thread import LONG, STORE
from aio_apiserver.storage import codec as codecs
from aio_apiserver.storage import versioner
from aio_apiserver.storage.codec import Codec
from aio_apiserver.storage.errors import Corrupt, InvalidOptions
from aio_apiserver.storage.interface import Resource
from aio_apiserver.storage.kv.interface import prefix_end
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.store.own_writes import OwnWrite, OwnWrites
from aio_apiserver.storage.stored_object import Encodings, ObjectReader, StoredObject
from aio_apiserver.storage.transformers.transformer import ENCRYPTED_PREFIX, Plain, Transformer


class Records:
    """Reads and writes the records below one prefix."""

    def __init__(
        self,
        resource: Resource,
        prefix: str,
        *,
        codec: Codec,
        transformer: Transformer,
        encodings: Encodings | None = None,
        messages: Codec | None = None,
    ) -> None:
        if not prefix.endswith("/"):
            raise ValueError(f"the prefix of a resource's keys ends with a slash: {prefix!r}")
        self._prefix = prefix.encode()
        self._type_meta = dict(resource.type_meta)
        self._translation = resource.translation
        self._reduced = resource.reduced
        self._codec = codec
        self._transformer = transformer
        self._messages = messages
        self._reader = reader_of(resource, encodings, messages)
        self._is_restored = resource.restore is not None
        self.own = OwnWrites()

    @property
    def is_translated(self) -> bool:
        """Whether a written object may read back differently, because a webhook converts it."""
        return self._translation is not None

    def key_of(self, key: str) -> bytes:
        """The kv key of an object. Raises InvalidOptions for an invalid key."""
        if not _NO_PARTS.isdisjoint(key.split("/")):
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
        """The key relative to the prefix."""
        return key[len(self._prefix) :].decode("utf-8", "backslashreplace")

    async def read(self, record: Record) -> StoredObject:
        """The object of a record, not yet decoded. Raises Corrupt and Unavailable."""
        return await self.read_state(record, record.mod_revision)

    async def read_state(self, record: Record, revision: int) -> StoredObject:
        """The same under another revision: the last state of an object, under the revision of its deletion."""
        data = record.value
        own = self.own.take(record.key, data) if self._transformer.is_identity else None
        if own is not None:
            return own.at(revision)
        is_large = len(data) >= LONG
        key, is_plain = self.relative(record.key), self._translation is None and self._transformer.is_identity
        if is_plain and not data.startswith(ENCRYPTED_PREFIX):
            is_stale = codecs.codec_of(data, self._messages) is not self._codec
            stored = StoredObject(key, revision, data, self._reader, is_stale=is_stale)
        else:
            stored = await self.object_of(key, revision, await self.opened(record))
        if is_large:
            with contextlib.suppress(Corrupt):  # raised again at the first use of the object
                await worker_thread.run(stored.hydrate, STORE)
        return stored

    async def opened(self, record: Record) -> Plain:
        """The value of a record, decrypted. Raises Corrupt and Unavailable."""
        data = record.value
        is_stale = False
        if data.startswith(ENCRYPTED_PREFIX) or not self._transformer.is_identity:
            plain = await self._transformer.from_storage(data, record.key)
            data, is_stale = plain.data, plain.is_stale
        return Plain(data, is_stale or codecs.codec_of(data, self._messages) is not self._codec)

    async def object_of(self, key: str, revision: int, plain: Plain) -> StoredObject:
        """The object of a value. Raises Untranslatable, and Corrupt for translated resources."""
        data = plain.data
        if self._translation is not None:
            data = self._codec.encode(await self._translation.from_stored(self._decoded(key, data)))
        return StoredObject(key, revision, data, self._reader, is_stale=plain.is_stale)

    def reduced(self, obj: Object) -> Object:
        """The object without the parts that are not stored. The argument is changed."""
        return obj if self._reduced is None else self._reduced(obj)

    async def value_of(self, obj: Object) -> bytes:
        """The encoded value of an object whose resourceVersion is cleared. Raises NotStorable and Untranslatable."""
        return self._codec.encode(
            self._type_meta | obj if self._translation is None else await self._translation.to_stored(obj)
        )

    async def sealed(self, key: bytes, value: bytes) -> bytes:
        """The value in the form for the kv engine. Raises Unavailable."""
        return value if self._transformer.is_identity else await self._transformer.to_storage(value, key)

    def own_write(self, key: str, raw_key: bytes, obj: Object, *, shown: bytes, plain: bytes, value: bytes) -> OwnWrite:
        """A write of an object, whose watch event will get the same StoredObject.

        Objects of which parts are not stored are read back. Those that are completed when they are read are read by the
        event. So are encrypted ones, since their keys may have changed.
        """
        known = shown if self._reduced is None else None
        own = OwnWrite(key, obj, self._reader, shown=known, plain=plain, value=value)
        if not self._is_restored and self._transformer.is_identity:
            self.own.add(raw_key, own)
        return own

    async def preview(self, key: str, obj: Object) -> StoredObject:
        """An object as it would read back, under its own resourceVersion."""
        revision = versioner.claimed_version(obj)
        if self._translation is None:
            return self._read_back(key, revision, obj)
        return await self.object_of(key, revision, Plain(await self.value_of(obj), is_stale=False))

    def _decoded(self, key: str, data: bytes) -> Object:
        try:
            return codecs.decode(data, self._messages)
        except ValueError as exc:
            raise Corrupt(key, f"{self._reader.resource}: {exc}") from exc

    def _read_back(self, key: str, revision: int, obj: Object) -> StoredObject:
        """The object as later reads return it. When parts are not stored, it must be read back."""
        if self._reduced is None:
            return StoredObject.of(key, revision, obj, self._reader)
        return StoredObject(key, revision, self._codec.encode(self._type_meta | obj), self._reader)


_NO_PARTS = frozenset(("", ".", ".."))


Decode = Callable[[bytes], Object]


def reader_of(resource: Resource, encodings: Encodings | None = None, messages: Codec | None = None) -> ObjectReader:
    """The reader of a resource's objects. Selectable fields are its own, its name, and its namespace if it has one."""
    name = f"{resource.resource}.{resource.group}" if resource.group else resource.resource
    fields = _namespaced(resource) if resource.namespaced else _unscoped(resource)
    decode = _decoder_of(resource, messages)
    return ObjectReader(decode, fields, name, encodings or Encodings(), resource.drop_unknown)


def _decoder_of(resource: Resource, messages: Codec | None) -> Decode:
    decode: Decode = codecs.decode
    if messages is not None:
        decode = partial(codecs.decode, messages=messages, default=resource.default)
    if resource.translation is not None:
        return decode
    if resource.restore is not None:
        return _restored(decode, resource.restore)
    return _untyped(decode, tuple(resource.type_meta)) if resource.type_meta else decode


def _untyped(decode_typed: Decode, type_meta: Sequence[str]) -> Decode:
    """A decoder that removes the type members that a write adds."""

    def decode(data: bytes) -> Object:
        obj = decode_typed(data)
        for member in type_meta:
            obj.pop(member, None)
        return obj

    return decode


def _restored(decode: Decode, restore: Callable[[Object], Object]) -> Decode:
    return lambda data: restore(decode(data))


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
