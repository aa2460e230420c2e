"""State: the objects as they are, in key order, with what finds some of them quickly.

A namespace is a range of the sorted keys. A trigger field (spec.nodeName) has an index of its own from its first use
on; it looks at changed objects only when somebody asks, so that a change costs no decoding.

Must hold: an answer is in key order and complete for this very moment.
"""

from collections.abc import Iterable, Sequence

from sortedcontainers import SortedDict

from aio_apiserver.storage.stored_object import StoredObject


class State:
    """The present objects of one resource."""

    def __init__(self) -> None:
        self._objects: SortedDict[str, StoredObject] = SortedDict()
        self._indexes: dict[str, _FieldIndex] = {}
        self._all: tuple[StoredObject, ...] | None = None
        """Everything, as the last one who asked for it got it: readers of one state share it."""

    def __len__(self) -> int:
        return len(self._objects)

    def size(self) -> int:
        """About how many bytes the objects have together, by a sample of them."""
        objects, count = self._objects, len(self._objects)
        sample = range(0, count, -(-count // _SAMPLE)) if count else range(0)
        seen: int = sum(objects.peekitem(place)[1].size for place in sample)
        return seen * count // max(len(sample), 1)

    def replace(self, objects: Iterable[StoredObject]) -> None:
        self._objects = SortedDict((stored.key, stored) for stored in objects)
        self._indexes.clear()
        self._all = None

    def get(self, key: str) -> StoredObject | None:
        found: StoredObject | None = self._objects.get(key)
        return found

    def put(self, stored: StoredObject) -> StoredObject | None:
        """Set one object; what was there before."""
        previous = self.get(stored.key)
        self._objects[stored.key] = stored
        self._all = None
        if self._indexes:
            self._note(stored.key)
        return previous

    def remove(self, key: str) -> StoredObject | None:
        """Take one object out; what was there."""
        previous: StoredObject | None = self._objects.pop(key, None)
        self._all = None
        if self._indexes:
            self._note(key)
        return previous

    def within(self, scope: str) -> Sequence[StoredObject]:
        """Everything (""), a namespace ("default/") or the one object of a key."""
        objects = self._objects
        if not scope:
            self._all = self._all or tuple(map(objects.__getitem__, objects))
            return self._all
        if scope.endswith("/"):
            return list(map(objects.__getitem__, objects.irange(scope, end_of(scope), (True, False))))
        return [objects[scope]] if scope in objects else []

    def unread(self, field: str) -> list[StoredObject]:
        """The objects that the field's index has to look at before it can answer."""
        index = self._indexes.get(field)
        if index is None:
            index = self._indexes[field] = _FieldIndex(field, self._objects)
        return [self._objects[key] for key in index.changed if key in self._objects]

    def having(self, field: str, value: str, *, scope: str) -> list[StoredObject]:
        """The objects of a scope whose field has this value. Raises Corrupt."""
        objects = self._objects
        index = self._indexes.get(field)
        if index is None:
            index = self._indexes[field] = _FieldIndex(field, objects)
        return [objects[key] for key in index.keys(value, objects) if key.startswith(scope)]

    def _note(self, key: str) -> None:
        for field, index in list(self._indexes.items()):
            index.changed.add(key)
            if len(index.changed) > len(self._objects) + _SPARE:  # nobody asks any more: start over when somebody does
                del self._indexes[field]


_SAMPLE = 50
"""How many objects are looked at to guess the size of all."""
_SPARE = 1_000
"""How many changed keys an index may collect beyond the number of objects; deleted keys would pile up otherwise."""


class _FieldIndex:
    """The keys by the value of one field. `changed`: the keys that it has not looked at since they changed."""

    __slots__ = ("_field", "_keys_by_value", "_value_by_key", "changed")

    def __init__(self, field: str, keys: Iterable[str]) -> None:
        self._field = field
        self._keys_by_value: dict[str, set[str]] = {}
        self._value_by_key: dict[str, str] = {}
        self.changed = set(keys)

    def keys(self, value: str, objects: "SortedDict[str, StoredObject]") -> Sequence[str]:
        """The keys of the objects with this value, sorted."""
        for key in list(self.changed):
            self._look_at(key, objects.get(key))
            self.changed.discard(key)
        return sorted(self._keys_by_value.get(value, ()))

    def _look_at(self, key: str, stored: StoredObject | None) -> None:
        value = stored.fields.get(self._field) if stored is not None else None
        before = self._value_by_key.pop(key, None)
        if before is not None:
            keys = self._keys_by_value[before]
            keys.discard(key)
            if not keys:
                del self._keys_by_value[before]
        if value is not None:
            self._value_by_key[key] = value
            self._keys_by_value.setdefault(value, set()).add(key)


def end_of(scope: str) -> str:
    """The end of the range of keys in a namespace: "/" is followed by "0".

    >>> end_of("default/")
    'default0'
    """
    return scope[:-1] + "0"
