"""State: the present objects of one resource in key order, with indexes for selectors.

A namespace is a range of the sorted keys. A trigger field (spec.nodeName) or a label that lists select by has an index
from its first use on.

Must hold: an answer is in key order, and complete at the time of the call.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import overload

from sortedcontainers import SortedDict

from aio_apiserver.storage.cacher import key_indexes
from aio_apiserver.storage.cacher.key_indexes import Index
from aio_apiserver.storage.stored_object import StoredObject

_KEY = attrgetter("key")


class State:
    """The present objects of one resource."""

    def __init__(self) -> None:
        self._objects: SortedDict[str, StoredObject] = SortedDict()
        self._indexes: dict[str, Index] = {}
        self._labels: dict[str, Index] = {}
        """The label that was used last comes last."""
        self._all: tuple[StoredObject, ...] | None = None
        """The tuple of all objects: readers of one state share it."""

    def __len__(self) -> int:
        return len(self._objects)

    def size(self) -> int:
        """The estimated size of all objects in bytes, from a sample."""
        objects, count = self._objects, len(self._objects)
        sample = range(0, count, -(-count // _SAMPLE)) if count else range(0)
        seen: int = sum(objects.peekitem(place)[1].size for place in sample)
        return seen * count // max(len(sample), 1)

    def replace(self, objects: Sequence[StoredObject]) -> None:
        self._objects = SortedDict(zip(map(_KEY, objects), objects, strict=True))  # no Python for each of many objects
        self._indexes.clear()
        self._labels.clear()
        self._all = None

    @property
    def objects(self) -> Mapping[str, StoredObject]:
        """All objects by their keys, in key order."""
        found: Mapping[str, StoredObject] = self._objects
        return found

    def get(self, key: str) -> StoredObject | None:
        found: StoredObject | None = self._objects.get(key)
        return found

    def put(self, stored: StoredObject) -> StoredObject | None:
        """Set one object; returns the previous one."""
        previous = self.get(stored.key)
        self._objects[stored.key] = stored
        self._all = None
        if self._indexes or self._labels:
            self._note(stored.key)
        return previous

    def remove(self, key: str) -> StoredObject | None:
        """Remove one object; returns it."""
        previous: StoredObject | None = self._objects.pop(key, None)
        self._all = None
        if self._indexes or self._labels:
            self._note(key)
        return previous

    def within(self, scope: str) -> Sequence[StoredObject]:
        """The objects of a scope: everything (""), a namespace ("default/") or the one object of a key."""
        objects = self._objects
        if not scope:
            self._all = self._all or tuple(map(objects.__getitem__, objects))
            return self._all
        if scope.endswith("/"):
            return list(map(objects.__getitem__, objects.irange(scope, end_of(scope), (True, False))))
        return [objects[scope]] if scope in objects else []

    def at_hand(self, scope: str) -> Sequence[StoredObject] | None:
        """The same, or None when that is a long walk, or not all of these objects are decoded."""
        objects = self._objects
        if not objects:
            return ()
        if scope and scope[-1] != "/":
            one = objects.get(scope)
            return () if one is None else (one,) if one.unread is None else None
        if len(objects) > _MOST_AT_HAND:
            return None
        found = self.within(scope)
        for stored in found:
            if stored.unread is not None:
                return None
        return found

    def span(self, scope: str) -> "Span":
        """The objects of a scope without copying them; each read shows the state at that time."""
        objects = self._objects
        if not scope:
            return Span(self, objects, 0, len(objects))
        if scope.endswith("/"):
            return Span(self, objects, objects.bisect_left(scope), objects.bisect_left(end_of(scope)))
        place = objects.bisect_left(scope)
        return Span(self, objects, place, place + (scope in objects))

    def unread(self, field: str) -> list[StoredObject]:
        """The objects that the field's index has to read before it can answer."""
        index = self._indexes.get(field)
        if index is None:
            index = self._indexes[field] = Index(key_indexes.of_field(field), self._objects)
        return [self._objects[key] for key in index.changed if key in self._objects]

    def having(self, field: str, value: str, *, scope: str) -> list[StoredObject]:
        """The objects of a scope whose field has this value. Raises Corrupt."""
        objects = self._objects
        index = self._indexes.get(field)
        if index is None:
            index = self._indexes[field] = Index(key_indexes.of_field(field), objects)
        return [objects[key] for key in index.keys(value, objects) if key.startswith(scope)]

    def index_of_label(self, name: str, *, scope: str) -> Index | None:
        """The index for a label, or None where the scope is small. The caller has to bring it up to date."""
        if len(self.span(scope)) < WORTH_AN_INDEX:
            return None
        index = self._labels.pop(name, None) or Index(key_indexes.of_label(name), self._objects)
        self._labels[name] = index
        if len(self._labels) > MOST_LABELS:
            del self._labels[next(iter(self._labels))]
        return index

    def labelled(self, name: str, values: Iterable[str], *, scope: str) -> Sequence[StoredObject] | None:
        """The objects of a scope with one of these labels; None where walking the scope is as fast. Raises Corrupt."""
        objects, span = self._objects, self.span(scope)
        index = self._labels.get(name) if len(span) >= WORTH_AN_INDEX else None
        if index is None:
            return None
        found = [index.keys(value, objects) for value in values]
        if sum(map(len, found)) * _FEW > len(span):
            return None
        keys = found[0] if len(found) == 1 else sorted(key for one in found for key in one)
        return [objects[key] for key in keys if key.startswith(scope)]

    def _note(self, key: str) -> None:
        for by_name in (self._indexes, self._labels):
            for name, index in list(by_name.items()):
                index.changed.add(key)
                if len(index.changed) > len(self._objects) + _SPARE:  # no list uses it any more
                    del by_name[name]


class Span(Sequence[StoredObject]):
    """The objects of a scope, by their positions among all. Valid until the state changes; a copy ([:]) stays valid."""

    def __init__(self, state: State, objects: "SortedDict[str, StoredObject]", start: int, end: int) -> None:
        self._state = state
        self._objects = objects
        self._start = start
        self._end = end

    def __len__(self) -> int:
        return self._end - self._start

    def behind(self, key: str) -> "Span":
        """The objects from a key on."""
        place = self._objects.bisect_left(key)
        return Span(self._state, self._objects, min(max(place, self._start), self._end), self._end)

    def __iter__(self) -> Iterator[StoredObject]:
        objects = self._objects
        return (objects[key] for key in objects.islice(self._start, self._end))

    @overload
    def __getitem__(self, place: int) -> StoredObject: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[StoredObject]: ...

    def __getitem__(self, place: int | slice) -> StoredObject | Sequence[StoredObject]:
        objects, count = self._objects, len(self)
        if isinstance(place, int):
            found: StoredObject = objects.peekitem(range(self._start, self._end)[place])[1]
            return found
        start, end, _ = place.indices(count)
        if end - start == len(objects):
            return self._state.within("")
        return list(map(objects.__getitem__, objects.islice(self._start + start, self._start + end)))


_MOST_AT_HAND = 512
"""A walk over more objects yields to other tasks."""
_SAMPLE = 50
"""The size of the sample from which the size of all objects is estimated."""
WORTH_AN_INDEX = 1_000
"""A walk over fewer objects takes less than a millisecond."""
MOST_LABELS = 8
"""An index takes about 150 bytes for each object with its label."""
_FEW = 3
"""An index is used if it selects at most one in so many objects. Otherwise a walk finds something at most steps."""
_SPARE = 1_000
"""How many changed keys an index may collect beyond the number of objects; deleted keys would pile up otherwise."""


def end_of(scope: str) -> str:
    """The end of the range of keys in a namespace: "/" is followed by "0".

    >>> end_of("default/")
    'default0'
    """
    return scope[:-1] + "0"
