"""StoredObject: one object at one revision, decoded and encoded at most once.

The currency of reads, writes and watches. A server hands out the JSON bytes as they are; only a write, an admission
rule or a table row needs the decoded object. Knows the codec and the selectable fields as callables, no kv, no kind.

Must hold: immutable to its users. `json` carries the revision as metadata.resourceVersion. Hydration (decoding the
stored bytes for the first time) happens at most once; afterwards the stored bytes are let go, so that a cached object
costs its JSON, its labels and its fields.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Self

import orjson
from msgspec import Struct

from aio_apiserver.storage import versioner
from aio_apiserver.storage.errors import Corrupt

Object = dict[str, Any]
"""A decoded API object: plain dicts, lists and scalars, with a `metadata` dict."""

_NOTHING: Mapping[str, str] = MappingProxyType({})


class Reader(Struct, frozen=True):
    """How the objects of one resource are read: shared by all its StoredObjects.

    decode: from stored bytes in any known codec (bare JSON included); raises ValueError for anything else.
    fields: the selectable fields of a decoded object, metadata.name and metadata.namespace included.
    resource: its name, for people who read that an object is corrupt.
    """

    decode: Callable[[bytes], Object]
    fields: Callable[[Object], Mapping[str, str]]
    resource: str = "object"


class StoredObject:
    """One object at one revision. `is_stale`: it was written with an older codec or key and wants to be rewritten."""

    __slots__ = ("_data", "_fields", "_json", "_labels", "_reader", "is_stale", "key", "revision")

    def __init__(self, key: str, revision: int, data: bytes, reader: Reader, *, is_stale: bool = False) -> None:
        self.key = key
        self.revision = revision
        self.is_stale = is_stale
        self._reader = reader
        self._data: bytes | None = data
        self._json = b""
        self._labels = _NOTHING
        self._fields = _NOTHING

    @classmethod
    def of(cls, key: str, revision: int, obj: Object, reader: Reader) -> Self:
        """The stored form of an object in hand, which is left as it is but for its resourceVersion."""
        stored = cls(key, revision, b"", reader)
        stored._settle(obj)
        return stored

    def at_revision(self, revision: int) -> "StoredObject":
        """The same state under another revision: what a deletion, or leaving a selection, shows."""
        if self._data is not None:
            return StoredObject(self.key, revision, self._data, self._reader, is_stale=self.is_stale)
        reader = Reader(
            orjson.loads, self._reader.fields, self._reader.resource
        )  # what was read once is not judged again
        return StoredObject(self.key, revision, self._json, reader, is_stale=self.is_stale)

    @property
    def size(self) -> int:
        """How many bytes are kept of it, in whatever form."""
        return len(self._json if self._data is None else self._data)

    @property
    def json(self) -> bytes:
        """The object as JSON, with its resourceVersion."""
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
        """The selectable fields by their paths."""
        if self._data is not None:
            self._hydrate()
        return self._fields

    @property
    def is_hydrated(self) -> bool:
        return self._data is None

    def hydrate(self) -> None:
        """Decode the stored bytes now, unless that was done. Raises Corrupt."""
        if self._data is not None:
            self._hydrate()

    def decode(self) -> Object:
        """A fresh copy that the caller owns, with its resourceVersion."""
        decoded: Object = orjson.loads(self.json)
        return decoded

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
