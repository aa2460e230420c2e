"""Groups: watchers with the same scope and selectors, and the groups that a change may concern.

A group is indexed by its trigger value if it has one, else by its scope. So with 500 nodes that watch their own pods, a
change of a pod is matched with one group and not with 500.

Must hold: every group that sees a change is found for it, by the field's previous value as well as by its new one.
"""

from collections.abc import Iterable, Iterator, Sequence

from aio_apiserver.storage.cacher import scope as scopes
from aio_apiserver.storage.cacher.cache_watcher import CacheWatcher
from aio_apiserver.storage.cacher.change import Change
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.selection import SelectionPredicate
from aio_apiserver.storage.stored_object import StoredObject


class Group:
    """Watchers with one scope and one predicate; `trigger` is the field and value of its index entry, if it has one."""

    __slots__ = ("members", "predicate", "scope", "trigger")

    def __init__(self, scope: str, predicate: SelectionPredicate, *, trigger: tuple[str, str] | None) -> None:
        self.scope = scope
        self.predicate = predicate
        self.trigger = trigger
        self.members: dict[CacheWatcher, None] = {}


_Shelf = dict[tuple[str, SelectionPredicate], Group]


class Groups:
    """All groups of one resource."""

    def __init__(self, triggers: Sequence[str]) -> None:
        self._by_scope: dict[str, _Shelf] = {}
        self._by_trigger: dict[str, dict[str, _Shelf]] = {field: {} for field in triggers}

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return bool(self._by_scope) or any(self._by_trigger.values())

    def __iter__(self) -> Iterator[Group]:
        for shelf in [*self._by_scope.values(), *(s for values in self._by_trigger.values() for s in values.values())]:
            yield from shelf.values()

    def add(self, watcher: CacheWatcher) -> Group:
        """Put a watcher into the group with its scope and predicate."""
        trigger = self._trigger_of(watcher)
        kind = (watcher.scope, watcher.predicate)
        shelf = self._shelves(trigger).setdefault(trigger[1] if trigger else watcher.scope, {})
        group = shelf.get(kind)
        if group is None:
            group = shelf[kind] = Group(watcher.scope, watcher.predicate, trigger=trigger)
        group.members[watcher] = None
        return group

    def discard(self, watcher: CacheWatcher, group: Group) -> None:
        """Take a watcher out of its group; a group without members is removed."""
        group.members.pop(watcher, None)
        if group.members:
            return
        shelves = self._shelves(group.trigger)
        value = group.trigger[1] if group.trigger else group.scope
        shelf = shelves.get(value, {})
        shelf.pop((group.scope, group.predicate), None)
        if not shelf:
            shelves.pop(value, None)

    def concerned(self, change: Change) -> list[Group]:
        """The groups that may see the change."""
        key, by_scope = change.key, self._by_scope
        found: list[Group] = []
        for scope in scopes.holding(key):
            if scope in by_scope:
                found.extend(by_scope[scope].values())
        for field, by_value in self._by_trigger.items():
            if by_value:
                found.extend(group for group in _triggered(change, field, by_value) if scopes.holds(group.scope, key))
        return found

    def _trigger_of(self, watcher: CacheWatcher) -> tuple[str, str] | None:
        if scopes.is_single(watcher.scope):
            return None
        for field in self._by_trigger:
            value = watcher.predicate.field_value(field)
            if value is not None:
                return field, value
        return None

    def _shelves(self, trigger: tuple[str, str] | None) -> dict[str, _Shelf]:
        return self._by_trigger[trigger[0]] if trigger else self._by_scope


def _triggered(change: Change, field: str, by_value: dict[str, _Shelf]) -> Iterable[Group]:
    """The groups at the previous and present values of the field; all groups when a value cannot be read."""
    try:
        values = {_value(change.previous, field), _value(change.current, field)}
    except Corrupt:
        return [group for shelf in by_value.values() for group in shelf.values()]
    return [group for value in values if value in by_value for group in by_value[value].values()]


def _value(stored: StoredObject | None, field: str) -> str:
    return stored.fields.get(field, "") if stored is not None else ""
