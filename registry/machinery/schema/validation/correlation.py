"""Which part of an old object a part of a new one comes from: what has not changed may be as wrong as before.

Must hold: members correspond by name, elements only in lists of type map, by their keys. What has no counterpart is
new.
"""

from typing import Any

import orjson

from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural import members


class Correlated:
    """A value and the one that was at its place. `schema` is the one that both are seen by."""

    __slots__ = ("_by_keys", "_is_same", "old", "schema", "value")

    def __init__(self, value: Any, old: Any, schema: Schema | None) -> None:
        self.value = value
        self.old = old
        self.schema = schema
        self._is_same: bool | None = None
        self._by_keys: dict[bytes, Any] | None = None

    @property
    def is_same(self) -> bool:
        """Whether nothing has changed."""
        if self._is_same is None:
            self._is_same = self._compare()
        return self._is_same

    def member(self, name: str) -> "Correlated | None":
        """The correspondence of a member."""
        if not (isinstance(self.value, dict) and isinstance(self.old, dict)):
            return None
        if name not in self.value or name not in self.old:
            return None
        below = members.of_member(self.schema, name)
        return Correlated(self.value[name], self.old[name], below) if below is not None else None

    def element(self, index: int) -> "Correlated | None":
        """The correspondence of an element."""
        below = members.of_items(self.schema)
        if below is None or self.schema is None or self.schema.get("x-kubernetes-list-type") != "map":
            return None
        if not (isinstance(self.value, list) and isinstance(self.old, list)):
            return None
        old = self._old_by_keys().get(self._keys(self.value[index]))
        return Correlated(self.value[index], old, below) if old is not None else None

    def _old_by_keys(self) -> dict[bytes, Any]:
        if self._by_keys is None:
            self._by_keys = {}
            for item in self.old:
                self._by_keys.setdefault(self._keys(item), item)
        return self._by_keys

    def _keys(self, item: Any) -> bytes:
        assert self.schema is not None
        names = self.schema.get("x-kubernetes-list-map-keys") or ()
        return orjson.dumps([item.get(name) for name in names] if isinstance(item, dict) else None)

    def _compare(self) -> bool:
        if type(self.value) is not type(self.old):
            return False
        if isinstance(self.value, list):
            return self._compare_lists()
        if isinstance(self.value, dict):
            if len(self.value) != len(self.old):
                return False
            pairs = (self.member(name) for name in self.value)
            return all(pair is not None and pair.is_same for pair in pairs)
        return bool(self.value == self.old)

    def _compare_lists(self) -> bool:
        """Lists of type map are the same in any order."""
        if len(self.value) != len(self.old):
            return False
        for index in range(len(self.value)):
            pair = self.element(index)
            if pair is None:
                return self._by_keys is None and bool(self.value == self.old)
            if not pair.is_same:
                return False
        return True
