"""Stored object: StoredObject, one object at one revision, decoded and encoded at most once.

Reads, writes and watches return it. The server sends its JSON bytes as they are. Writes, admission and table rows need
the decoded object. It knows the codec and the selectable fields as callables, no kv and no kind.

Must hold: its users cannot change it. `json` has the revision as metadata.resourceVersion. Hydration (the first
decoding of the stored bytes) happens at most once. Afterwards the stored bytes are released: a cached object keeps its
JSON, its labels and its fields, and for as long as there is room the results of its encoders.
"""

from collections.abc import Callable, Mapping, Sized
from types import MappingProxyType
from typing import Any, Self, TypeVar, cast

import orjson
from msgspec import Struct, field

from aio_apiserver.storage import versioner
from aio_apiserver.storage.encodings import Encodings, KeptEncodings
from aio_apiserver.storage.errors import Corrupt

Object = dict[str, Any]
"""A decoded API object: dicts, lists and scalars, with a `metadata` dict."""

M = TypeVar("M", bound=Sized)

_NOTHING: Mapping[str, str] = MappingProxyType({})


class ObjectReader(Struct, frozen=True):
    """The functions that read the objects of one resource, shared by all its StoredObjects.

    decode: decodes stored bytes of any codec; raises ValueError.
    fields: the selectable fields of a decoded object, with metadata.name and metadata.namespace.
    resource: its name, for error messages.
    encodings: keeps the results of the encoders.
    """

    decode: Callable[[bytes], Object]
    fields: Callable[[Object], Mapping[str, str]]
    resource: str = "object"
    encodings: Encodings = field(default_factory=Encodings)


class StoredObject:
    """One object at one revision. `is_stale`: written with an older codec or key, and should be rewritten."""

    __slots__ = ("_data", "_fields", "_json", "_kept", "_labels", "_reader", "is_stale", "key", "revision")

    def __init__(self, key: str, revision: int, data: bytes, reader: ObjectReader, *, is_stale: bool = False) -> None:
        self.key = key
        self.revision = revision
        self.is_stale = is_stale
        self._reader = reader
        self._data: bytes | None = data
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

    def at_revision(self, revision: int) -> "StoredObject":
        """The same state under another revision, for a deletion or for leaving a selection."""
        if self._data is not None:
            return StoredObject(self.key, revision, self._data, self._reader, is_stale=self.is_stale)
        reader = ObjectReader(
            orjson.loads, self._reader.fields, self._reader.resource, self._reader.encodings
        )  # what was read once is not judged again
        return StoredObject(self.key, revision, self._json, reader, is_stale=self.is_stale)

    @property
    def size(self) -> int:
        """The number of bytes in memory, in any form."""
        return len(self._json if self._data is None else self._data)

    @property
    def json(self) -> bytes:
        """The object as JSON with its resourceVersion."""
        if self._data is not None:
            self._hydrate()
        return self._json

    @property
    def labels(self) -> Mapping[str, str]:
        if self._data is not None:
            self._hydrate()
        return self._labels

    @property
    def fields(self) -> Mapping[str, str]:
        """The selectable fields by path."""
        if self._data is not None:
            self._hydrate()
        return self._fields

    @property
    def is_hydrated(self) -> bool:
        return self._data is None

    def hydrate(self) -> None:
        """Decode the stored bytes, unless that has been done. Raises Corrupt."""
        if self._data is not None:
            self._hydrate()

    def decode(self) -> Object:
        """A copy with its resourceVersion, which the caller owns."""
        decoded: Object = orjson.loads(self.json)
        return decoded

    def encoded(self, encode: Callable[["StoredObject"], M]) -> M:
        """What an encoder makes of it, kept for the next who ask for it with the same encoder."""
        kept = self._kept
        if kept is None:
            kept = self._kept = KeptEncodings()
        for encoder, found in kept.pairs:
            if encoder is encode:
                kept.is_used = True
                return cast("M", found)
        made = encode(self)
        self._reader.encodings.add(kept, encode, made)
        return made

    def _hydrate(self) -> None:
        assert self._data is not None
        try:
            self._settle(self._reader.decode(self._data))
        except (ValueError, TypeError, AttributeError, KeyError) as exc:
            raise Corrupt(self.key, f"{self._reader.resource}: {exc}") from exc

    def _settle(self, obj: Object) -> None:
        versioner.set_resource_version(obj, self.revision)
        self._json = bytes(memoryview(orjson.dumps(obj)))  # a copy: orjson's own bytes keep a buffer of twice the size
        labels = obj["metadata"].get("labels")
        self._labels = dict(labels) if labels else _NOTHING
        self._fields = self._reader.fields(obj)
        self._data = None
