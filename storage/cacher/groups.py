"""Groups: watchers with the same scope and selectors, and the groups that a change may concern.

A group is indexed by its trigger value if it has one, else by its scope. In its scope it is indexed by the value of a
label, if its predicate selects one value. So with 500 nodes that watch their own pods, a change of a pod is matched
with one group and not with 500. The same is true of 500 watchers that each select another label value.

Must hold: every group that sees a change is found for it, by the previous value as well as by the new one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from aio_apiserver.storage.cacher import scope as scopes
from aio_apiserver.storage.cacher.cache_watcher import CacheWatcher
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.selection import SelectionPredicate
from aio_apiserver.storage.stored_object import StoredObject

_Named = tuple[str, str]
"""A field or label, and its value."""


class Group:
    """Watchers with one scope and one predicate.

    trigger: the field and value of its index entry; label: the label and value, for a group without a trigger.
    """

    __slots__ = ("label", "members", "predicate", "scope", "trigger")

    def __init__(
        self, scope: str, predicate: SelectionPredicate, *, trigger: _Named | None, label: _Named | None
    ) -> None:
        self.scope = scope
        self.predicate = predicate
        self.trigger = trigger
        self.label = label
        self.members: dict[CacheWatcher, None] = {}


_Shelf = dict[tuple[str, SelectionPredicate], Group]
_Shelves = dict[str, _Shelf]
"""By the value of a field or label, or by the scope."""


class Groups:
    """All groups of one resource."""

    def __init__(self, triggers: Sequence[str]) -> None:
        self._by_scope: _Shelves = {}
        self._by_trigger: dict[str, _Shelves] = {field: {} for field in triggers}
        self._by_label: dict[str, dict[str, _Shelves]] = {}
        """By scope and label."""

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        return bool(self._by_scope or self._by_label) or any(self._by_trigger.values())

    def __iter__(self) -> Iterator[Group]:
        labelled = [shelves for by_name in self._by_label.values() for shelves in by_name.values()]
        for shelves in [self._by_scope, *self._by_trigger.values(), *labelled]:
            yield from _all_of(shelves)

    def add(self, watcher: CacheWatcher) -> Group:
        """Put a watcher into the group with its scope and predicate."""
        trigger = self._trigger_of(watcher)
        label = None if trigger or scopes.is_single(watcher.scope) else _label_of(watcher.predicate)
        group = Group(watcher.scope, watcher.predicate, trigger=trigger, label=label)
        shelves, value = self._place_of(group)
        group = shelves.setdefault(value, {}).setdefault((watcher.scope, watcher.predicate), group)
        group.members[watcher] = None
        return group

    def discard(self, watcher: CacheWatcher, group: Group) -> None:
        """Take a watcher out of its group; a group without members is removed."""
        group.members.pop(watcher, None)
        if group.members:
            return
        shelves, value = self._place_of(group)
        shelf = shelves.get(value, {})
        shelf.pop((group.scope, group.predicate), None)
        if not shelf:
            shelves.pop(value, None)
        if group.label is not None and not shelves:
            by_name = self._by_label[group.scope]
            del by_name[group.label[0]]
            if not by_name:
                del self._by_label[group.scope]

    def concerned(self, change: Change) -> list[Group]:
        """The groups that may see the change."""
        key, by_scope = change.key, self._by_scope
        found: list[Group] = []
        for scope in scopes.holding(key):
            if scope in by_scope:
                found.extend(by_scope[scope].values())
            if scope in self._by_label:
                for name, shelves in self._by_label[scope].items():
                    found.extend(_at_values(change, partial(_label, name=name), shelves))
        for field, by_value in self._by_trigger.items():
            if by_value:
                triggered = _at_values(change, partial(_field, name=field), by_value)
                found.extend(group for group in triggered if scopes.holds(group.scope, key))
        return found

    def _place_of(self, group: Group) -> tuple[_Shelves, str]:
        """The shelves of a group, and its value there."""
        if group.trigger is not None:
            return self._by_trigger[group.trigger[0]], group.trigger[1]
        if group.label is not None:
            name, value = group.label
            return self._by_label.setdefault(group.scope, {}).setdefault(name, {}), value
        return self._by_scope, group.scope

    def _trigger_of(self, watcher: CacheWatcher) -> _Named | None:
        if scopes.is_single(watcher.scope):
            return None
        for field in self._by_trigger:
            value = watcher.predicate.field_value(field)
            if value is not None:
                return field, value
        return None


def _label_of(predicate: SelectionPredicate) -> _Named | None:
    """A label that must have one certain value."""
    label = predicate.label
    return None if label is None or len(label.values) > 1 else (label.name, next(iter(label.values)))


def _at_values(
    change: Change, value_of: Callable[[StoredObject | None], str | None], shelves: _Shelves
) -> Iterable[Group]:
    """The groups at the previous and present values; all groups when a value cannot be read."""
    try:
        values = {value_of(change.previous), value_of(change.current)}
    except Corrupt:
        return _all_of(shelves)
    return [group for value in values if value in shelves for group in shelves[value].values()]


def _all_of(shelves: _Shelves) -> list[Group]:
    return [group for shelf in shelves.values() for group in shelf.values()]


def _field(stored: StoredObject | None, *, name: str) -> str:
    return stored.fields.get(name, "") if stored is not None else ""


def _label(stored: StoredObject | None, *, name: str) -> str | None:
    """None without the label, which is in no shelf."""
    return stored.labels.get(name) if stored is not None else None
