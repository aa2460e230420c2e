"""Own writes: the objects that this process wrote lately, until the watch events of the writes arrive.

An object is encoded once: the bytes that answer its writer are those that the watch cache keeps and watchers get. The
event of a write may come before or after the result of the write, so both look here.

    put pods/a, value V    add(pods/a, V)    result: revision 7    event: pods/a = V at 7, the same StoredObject

Must hold: an event gets an object from here when key and value equal those of the write. Memory is bounded: without
events, as for resources that have no cache, the oldest objects are dropped.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage import versioner
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject

_MOST = 256
_MOST_BYTES = 1 << 20


class OwnWrite:
    """One write of an object.

    value: the bytes for the kv engine. plain: the same before encryption. shown: the object's JSON with an empty
    resourceVersion; None for an object that has to be read back.
    """

    __slots__ = ("_key", "_obj", "_plain", "_reader", "_shown", "_stored", "value")

    def __init__(
        self, key: str, obj: Object, reader: ObjectReader, *, shown: bytes | None, plain: bytes, value: bytes
    ) -> None:
        self.value = value
        self._key = key
        self._obj = obj
        self._reader = reader
        self._shown = shown
        self._plain = plain
        self._stored: StoredObject | None = None

    def at(self, revision: int) -> StoredObject:
        """The object at a revision: that of the write, or of the deletion that removed it."""
        stored = self._stored
        if stored is None:
            stored = self._stored = self._build(revision)
            self._obj = {}
        return stored if stored.revision == revision else stored.at_revision(revision)

    def _build(self, revision: int) -> StoredObject:
        if self._shown is None:
            return StoredObject(self._key, revision, self._plain, self._reader)
        json = versioner.with_revision(self._shown, self._obj, revision)
        return StoredObject.encoded_as(json, self._key, revision, self._obj, self._reader)


class OwnWrites:
    """The writes of one resource, the oldest first. An entry is dropped when its event has arrived."""

    def __init__(self) -> None:
        self._by_key: dict[bytes, OwnWrite] = {}
        self._bytes = 0

    def add(self, key: bytes, write: OwnWrite) -> None:
        """Remember a write that is about to be made."""
        if key in self._by_key:
            self.drop(key)
        self._by_key[key] = write
        self._bytes += len(write.value)
        while len(self._by_key) > _MOST or (self._bytes > _MOST_BYTES and len(self._by_key) > 1):
            self.drop(next(iter(self._by_key)))

    def take(self, key: bytes, value: bytes) -> OwnWrite | None:
        """The write of this value, which is then forgotten."""
        write = self._by_key.get(key)
        if write is None or write.value != value:
            return None
        self.drop(key)
        return write

    def drop(self, key: bytes) -> None:
        """Forget the write of a key."""
        write = self._by_key.pop(key, None)
        if write is not None:
            self._bytes -= len(write.value)
