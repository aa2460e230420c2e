"""Key indexes: finds the keys of a resource's objects by the value of one field or label, for list selectors.

An index reads changed objects only when a list uses it, so that a change costs no decoding. A large update of an index
takes several turns of the event loop. It knows no scope and no predicate.

Must hold: `keys` are sorted, and complete at the time of the call.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.yielding import Share
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.stored_object import StoredObject

_KEYS_A_STEP = 64
"""How many objects are read between two checks of the clock."""

ValueOf = Callable[[StoredObject], str | None]


class Index:
    """Keys by one value of their objects. `changed`: keys whose objects have changed since the index read them."""

    __slots__ = ("_keys_by_value", "_sorted_by_value", "_value_by_key", "_value_of", "changed")

    def __init__(self, value_of: ValueOf, keys: Iterable[str]) -> None:
        self._value_of = value_of
        self._keys_by_value: dict[str, set[str]] = {}
        self._sorted_by_value: dict[str, list[str]] = {}
        self._value_by_key: dict[str, str] = {}
        self.changed = set(keys)

    def keys(self, value: str, objects: Mapping[str, StoredObject]) -> Sequence[str]:
        """The keys of the objects with this value, sorted. Raises Corrupt."""
        self.look_at(len(self.changed), objects)
        if value not in self._keys_by_value:
            return ()
        if value not in self._sorted_by_value:
            self._sorted_by_value[value] = sorted(self._keys_by_value[value])
        return self._sorted_by_value[value]

    def look_at(self, count: int, objects: Mapping[str, StoredObject]) -> None:
        """Read up to `count` of the changed objects. Raises Corrupt."""
        changed = self.changed
        for _ in range(min(count, len(changed))):
            key = changed.pop()
            try:
                self._look_at(key, objects.get(key))
            except Corrupt:
                changed.add(key)
                raise
        if not changed:
            self.changed = set()  # one that was large stays slow to walk

    def _look_at(self, key: str, stored: StoredObject | None) -> None:
        value = self._value_of(stored) if stored is not None else None
        before = self._value_by_key.get(key)
        if value == before:
            return
        if before is not None:
            self._take_out(key, before)
        if value is not None:
            self._value_by_key[key] = value
            self._keys_by_value.setdefault(value, set()).add(key)
            self._sorted_by_value.pop(value, None)

    def _take_out(self, key: str, value: str) -> None:
        del self._value_by_key[key]
        self._sorted_by_value.pop(value, None)
        keys = self._keys_by_value[value]
        keys.discard(key)
        if not keys:
            del self._keys_by_value[value]


async def bring_up_to_date(index: Index, objects: Mapping[str, StoredObject], clock: Clock) -> None:
    """Let the index read all changed objects, in several turns. Raises Corrupt."""
    share = Share(clock)
    while index.changed:
        index.look_at(_KEYS_A_STEP, objects)
        if share.step():
            await asyncio.sleep(0)
            share = Share(clock)


def of_field(name: str) -> ValueOf:
    return lambda stored: stored.fields.get(name)


def of_label(name: str) -> ValueOf:
    return lambda stored: stored.labels.get(name)
