"""Stored object: StoredObject, one object at one revision, decoded and encoded at most once.

Reads, writes and watches return it. The server sends its JSON bytes as they are. Writes, admission and table rows need
the decoded object. It knows the codec and the selectable fields as callables, no kv and no kind.

Must hold: its users cannot change it. `json` has the revision as metadata.resourceVersion. Hydration (the first
decoding of the stored bytes) happens at most once. Afterwards the stored bytes are released: a cached object keeps its
JSON, its labels and its fields. It also keeps the results of its encoders, as long as there is room.
"""

from collections.abc import Callable, Mapping, Sequence, Sized
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Self, TypeVar
from weakref import ref

import orjson
from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage import versioner
from aio_apiserver.storage.errors import Corrupt

M = TypeVar("M", bound=Sized)
_ENCODED = attrgetter("_json")

_LIMIT_BYTES = 64 * 1024 * 1024
"""For the encodings of all objects of a server together: some 40,000 pods in one form."""
_OVERHEAD_BYTES = 400
"""The memory that keeping takes besides the encodings, for each object."""

_NOTHING: Mapping[str, str] = MappingProxyType({})


class KeptEncodings:
    """The encodings of one StoredObject, which owns them. `pairs`: the encoders, and the result of each."""

    __slots__ = ("__weakref__", "is_used", "pairs")

    def __init__(self) -> None:
        self.pairs: tuple[tuple[object, Any], ...] = ()
        self.is_used = True


class Encodings:
    """Keeps the results of encoders for many objects: protobuf messages, table rows.

    Must hold: a result is released with its StoredObject; all results together stay below the limit. Results that
    no client has asked for lately make room; a list longer than the limit does not push out all of itself.
    """

    def __init__(self, limit: int = _LIMIT_BYTES) -> None:
        self._limit = limit
        self._bytes = self._made = self._dropped = 0
        self._sizes: dict[ref[KeptEncodings], int] = {}
        """In the order in which they are to make room."""

    def add(self, kept: KeptEncodings, encoder: object, made: Sized) -> None:
        """Keep the result of an encoder, if there is room."""
        self._made += 1
        size = len(made) if kept.pairs else len(made) + _OVERHEAD_BYTES
        if not self._has_room(size):
            return
        kept.pairs += ((encoder, made),)
        entry = ref(kept, self._forget)
        self._sizes[entry] = self._sizes.get(entry, 0) + size
        self._bytes += size

    def statistics(self) -> Mapping[str, int]:
        return {"objects": len(self._sizes), "bytes": self._bytes, "made": self._made, "dropped": self._dropped}

    def _has_room(self, size: int) -> bool:
        """Whether there is room. Drops objects that were not used lately, and none that were."""
        while self._bytes + size > self._limit:
            oldest = next(iter(self._sizes), None)
            kept = oldest() if oldest is not None else None
            if oldest is None or kept is None:
                return False
            if kept.is_used:
                kept.is_used = False
                self._sizes[oldest] = self._sizes.pop(oldest)
                return False
            kept.pairs = ()
            self._dropped += 1
            self._forget(oldest)
        return True

    def _forget(self, entry: "ref[KeptEncodings]") -> None:
        self._bytes -= self._sizes.pop(entry, 0)


class ObjectReader(Struct, frozen=True):
    """The functions that read the objects of one resource, shared by all its StoredObjects.

    decode: decodes stored bytes of any codec; raises ValueError.
    fields: the selectable fields of a decoded object, with metadata.name and metadata.namespace.
    resource: its name, for error messages.
    encodings: keeps the results of the encoders.
    drop_unknown: drops the fields that the server does not know, and tells whether there were any.
    """

    decode: Callable[[bytes], Object]
    fields: Callable[[Object], Mapping[str, str]]
    resource: str = "object"
    encodings: Encodings = field(default_factory=Encodings)
    drop_unknown: Callable[[Object], bool] | None = None


class StoredObject:
    """One object at one revision.

    is_stale: should be rewritten: it was written with an older codec or key, or with fields that were dropped.
    """

    __slots__ = ("_fields", "_json", "_kept", "_labels", "_reader", "is_stale", "key", "revision", "unread")

    def __init__(self, key: str, revision: int, data: bytes, reader: ObjectReader, *, is_stale: bool = False) -> None:
        self.key = key
        self.revision = revision
        self.is_stale = is_stale
        self._reader = reader
        self.unread: bytes | None = data
        """The stored bytes until hydration; None afterwards."""
        self._json = b""
        self._kept: KeptEncodings | None = None
        self._labels = _NOTHING
        self._fields = _NOTHING

    @classmethod
    def of(cls, key: str, revision: int, obj: Object, reader: ObjectReader) -> Self:
        """The stored form of a decoded object, whose resourceVersion is set."""
        stored = cls(key, revision, b"", reader)
        stored._settle(obj)
        return stored

    @classmethod
    def encoded_as(cls, json: bytes, key: str, revision: int, obj: Object, reader: ObjectReader) -> Self:
        """The same for an object whose JSON at this revision is known."""
        stored = cls(key, revision, b"", reader)
        stored._keep(json, obj)
        return stored

    def at_revision(self, revision: int) -> "StoredObject":
        """The same state under another revision, for a deletion or for leaving a selection."""
        if self.unread is not None:
            return StoredObject(self.key, revision, self.unread, self._reader, is_stale=self.is_stale)
        reader = ObjectReader(
            orjson.loads, self._reader.fields, self._reader.resource, self._reader.encodings
        )  # what was read once is not judged again
        return StoredObject(self.key, revision, self._json, reader, is_stale=self.is_stale)

    @property
    def size(self) -> int:
        """The number of bytes in memory, in any form."""
        return len(self._json if self.unread is None else self.unread)

    @property
    def json(self) -> bytes:
        """The object as JSON with its resourceVersion."""
        if self.unread is not None:
            self._hydrate()
        return self._json

    @property
    def labels(self) -> Mapping[str, str]:
        if self.unread is not None:
            self._hydrate()
        return self._labels

    @property
    def fields(self) -> Mapping[str, str]:
        """The selectable fields by path."""
        if self.unread is not None:
            self._hydrate()
        return self._fields

    def hydrate(self) -> None:
        """Decode the stored bytes, unless that has been done. Raises Corrupt."""
        if self.unread is not None:
            self._hydrate()

    def decode(self) -> Object:
        """A copy with its resourceVersion, which the caller owns."""
        decoded: Object = orjson.loads(self.json)
        return decoded

    def encoded(self, encode: Callable[["StoredObject"], M]) -> M:
        """The result of an encoder, kept for the next client that wants the same form."""
        made = self.kept_encoding(encode)
        if made is None:
            made = encode(self)
            self.keep(encode, made)
        return made

    def kept_encoding(self, encode: Callable[["StoredObject"], M]) -> M | None:
        """The kept result of an encoder; None when there is none."""
        kept = self._kept
        if kept is not None:
            for encoder, made in kept.pairs:
                if encoder is encode:
                    kept.is_used = True
                    result: M = made
                    return result
        return None

    def keep(self, encode: Callable[["StoredObject"], M], made: M) -> None:
        """Keep the result of an encoder, which may have run in the worker thread."""
        if self._kept is None:
            self._kept = KeptEncodings()
        if self.kept_encoding(encode) is None:
            self._reader.encodings.add(self._kept, encode, made)

    def _hydrate(self) -> None:
        data = self.unread
        if data is None:  # it was decoded in the worker thread meanwhile
            return
        try:
            obj = self._reader.decode(data)
            if self._reader.drop_unknown is not None and self._reader.drop_unknown(obj):
                self.is_stale = True
            self._settle(obj)
        except (ValueError, TypeError, AttributeError, KeyError) as exc:
            raise Corrupt(self.key, f"{self._reader.resource}: {exc}", revision=self.revision) from exc

    def _settle(self, obj: Object) -> None:
        versioner.set_resource_version(obj, self.revision)
        self._keep(bytes(memoryview(orjson.dumps(obj))), obj)  # a copy: orjson's own bytes keep twice their size

    def _keep(self, json: bytes, obj: Object) -> None:
        self._json = json
        labels = obj["metadata"].get("labels")
        self._labels = dict(labels) if labels else _NOTHING
        self._fields = self._reader.fields(obj)
        self.unread = None


def json_of_all(objects: Sequence[StoredObject]) -> list[bytes]:
    """The JSON of each object. Objects that are hydrated already cost no call."""
    found = list(map(_ENCODED, objects))
    return found if all(found) else [stored.json for stored in objects]


def sizes_of_all(objects: Sequence[StoredObject]) -> list[int]:
    """The size of each object. Objects that are hydrated already cost no call."""
    sizes = list(map(len, map(_ENCODED, objects)))
    return sizes if all(sizes) else [stored.size for stored in objects]
