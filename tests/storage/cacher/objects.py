"""Objects, events and changes of WIDGETS for tests of the cache's parts, as a store's watch would bring them."""

from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.codec import MSGPACK
from aio_apiserver.storage.interface import WatchEvent, WatchEventType
from aio_apiserver.storage.store.records import reader_of
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject
from tests.storage.steps import WIDGETS, widget


class Decodings:
    """A reader of WIDGETS that counts its decoded objects."""

    def __init__(self) -> None:
        self.count = 0
        own = reader_of(WIDGETS)

        def decode(data: bytes) -> Object:
            self.count += 1
            return own.decode(data)

        self.reader = ObjectReader(decode=decode, fields=own.fields)


def stored(
    key: str,
    revision: int,
    *,
    labels: dict[str, str] | None = None,
    reader: ObjectReader | None = None,
    **spec: Any,
) -> StoredObject:
    """An object that is not decoded yet."""
    namespace, _, name = key.rpartition("/")
    obj = widget(name, namespace=namespace, labels=labels, **spec)
    return StoredObject(key, revision, MSGPACK.encode(obj), reader or reader_of(WIDGETS))


def broken(key: str, revision: int) -> StoredObject:
    """An object that cannot be decoded."""
    return StoredObject(key, revision, b"not an object", reader_of(WIDGETS))


def put(current: StoredObject) -> WatchEvent:
    """The event of a write. A cache finds out by itself whether the key is new."""
    return WatchEvent(WatchEventType.MODIFIED, current, current.revision)


def gone(last: StoredObject, revision: int) -> WatchEvent:
    """The event of a deletion."""
    return WatchEvent(WatchEventType.DELETED, last.at_revision(revision), revision)


def progress(revision: int) -> WatchEvent:
    """The bookmark of the store at this revision."""
    return WatchEvent(WatchEventType.BOOKMARK, None, revision)


def change(revision: int, *, key: str = "default/a", at: float = 0.0, previous: StoredObject | None = None) -> Change:
    """A write of one key."""
    return Change(key, previous, current=stored(key, revision), revision=revision, at=at)
