"""Ownership: what an update and an apply make of field sets, and what an apply makes of the object.

Pure. Must hold: no apply removes a field that somebody else owns; what a writer cannot set is nobody's.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from msgspec import Struct

from registry.patch.apply import compare, contents, fields, merge, reconcile, removal
from registry.patch.apply.compare import Difference
from registry.patch.apply.conflicts import Conflict, Conflicts
from registry.patch.apply.fields import Fields
from registry.patch.apply.managed import Managed, Owned, Owner
from registry.patch.apply.resets import NO_RESETS, Resets
from registry.patch.apply.shapes import ABSENT, Shape, ShapeError


class Versioned(NamedTuple):
    """An object in one version, with the shape of its type."""

    api_version: str
    shape: Shape
    value: dict[str, Any]

    def field_set(self) -> Fields:
        """The fields that it sets."""
        return contents.field_set(self.shape, self.value)

    def named_field_set(self) -> Fields:
        """The fields that it sets, and all that its type names above them."""
        return contents.with_named_fields(self.shape, self.field_set())

    def named(self, found: Fields) -> Fields:
        return contents.with_named_fields(self.shape, found)

    def compared(self, new: "Versioned") -> Difference:
        return compare.compared(self.shape, self.value, new.value)

    def without(self, removed: Fields) -> "Versioned":
        return self._replace(value=removal.without(self.shape, self.value, removed))

    def merged(self, config: "Versioned") -> "Versioned":
        value = merge.merged(self.shape, self.value, config.value)
        return self._replace(value={} if value is ABSENT else value)


class Convert(Protocol):
    """An object in another version; None for a version that is not served."""

    def __call__(self, obj: Versioned, api_version: str, /) -> Versioned | None: ...


class Rules(Struct, frozen=True):
    """How a resource converts, and what writers on this path cannot set.

    resets_only: the one version of which that is true; empty where it is of all.
    """

    convert: Convert
    resets: Resets
    resets_only: str = ""

    def resets_in(self, api_version: str) -> Resets:
        return self.resets if self.resets_only in {"", api_version} else NO_RESETS


def updated(rules: Rules, live: Versioned, new: Versioned, managed: Managed) -> tuple[dict[Owner, Owned], Fields]:
    """What everybody still owns after an update, and what is the writer's by it. Raises ShapeError."""
    change = live.compared(new).within(rules.resets)
    reconciled = _reconciled(rules, live, managed)
    left, _ = _left(rules, live, new, reconciled, change)
    return left, change.changed


def applied(
    rules: Rules, live: Versioned, config: Versioned, managed: Managed, *, owner: Owner, force: bool
) -> tuple[Versioned, dict[Owner, Owned]]:
    """The object and what everybody owns after an apply. Raises Conflicts, ShapeError."""
    before = _reconciled(rules, live, managed)
    last = before.get(owner)
    time = managed[owner].time if owner in managed else ""
    mine = Owned(live.api_version, rules.resets.kept(config.field_set()), time)
    wanted = {**before, owner: mine}
    new = live.merged(config)
    if last is not None and last.fields:
        new = _pruned(rules, new, wanted, last)
    change = live.compared(new).within(rules.resets)
    others = {one: owned for one, owned in wanted.items() if one != owner}
    left, conflicts = _left(rules, live, new, others, change)
    if conflicts and not force:
        raise Conflicts(conflicts)
    if mine.fields:
        left[owner] = mine
    return new, left


def _reconciled(rules: Rules, live: Versioned, managed: Managed) -> dict[Owner, Owned]:
    """What the types of today say of fields that were owned under those of another day."""
    result = {}
    for owner, owned in managed.items():
        there = rules.convert(live, owned.api_version)
        if there is not None:
            result[owner] = owned._replace(fields=reconcile.reconciled(there.shape, owned.fields))
    return result


def _left(
    rules: Rules, live: Versioned, new: Versioned, managed: Managed, change: Difference
) -> tuple[dict[Owner, Owned], list[Conflict]]:
    """What owners still own after a change, and what they lose to it."""
    changes: dict[str, Difference | None] = {new.api_version: change}
    left: dict[Owner, Owned] = {}
    conflicts: list[Conflict] = []
    for owner, owned in managed.items():
        if owned.api_version not in changes:
            changes[owned.api_version] = _change_in(rules, live, new, owned.api_version)
        there = changes[owned.api_version]
        if there is None:
            continue
        taken = fields.intersection(owned.fields, there.changed)
        conflicts += (Conflict(owner, path) for path in fields.members(taken))
        rest = fields.difference(fields.difference(owned.fields, taken), there.removed)
        if rest:
            left[owner] = owned._replace(fields=rest)
    return left, conflicts


def _change_in(rules: Rules, live: Versioned, new: Versioned, api_version: str) -> Difference | None:
    old = _converted(rules, live, api_version, "failed to convert old object")
    changed = _converted(rules, new, api_version, "failed to convert new object") if old is not None else None
    return None if old is None or changed is None else old.compared(changed).within(rules.resets_in(api_version))


def _pruned(rules: Rules, merged: Versioned, managed: Managed, last: Owned) -> Versioned:
    """The merged object without what its applier applied before and no longer does, and nobody else owns."""
    what = "failed to prune fields: failed to convert merged object to last applied version"
    whole = _converted(rules, merged, last.api_version, what)
    if whole is None:
        return merged
    dropped = whole.named(last.fields)
    pruned = _with_owned(rules, whole, whole.without(dropped), _by_version(managed))
    gone = fields.intersection(fields.difference(whole.named_field_set(), pruned.named_field_set()), dropped)
    return _converted(rules, whole.without(gone), merged.api_version, "failed to prune fields") or merged


def _converted(rules: Rules, obj: Versioned, api_version: str, failure: str) -> Versioned | None:
    try:
        return rules.convert(obj, api_version)
    except ShapeError as exc:
        raise ShapeError(f"{failure}: {exc}") from exc


def _by_version(managed: Managed) -> Mapping[str, Fields]:
    owned: dict[str, list[Fields]] = {}
    for one in managed.values():
        owned.setdefault(one.api_version, []).append(one.fields)
    return {version: fields.union_of(sets) for version, sets in owned.items()}


def _with_owned(rules: Rules, whole: Versioned, pruned: Versioned, owned: Mapping[str, Fields]) -> Versioned:
    """What was pruned, with all that anybody still owns.

    What is owned in the version of the pruning comes first: without it, the object might not convert at all.
    """
    first, present = whole.api_version, whole
    for version in sorted(owned, key=lambda one: (one != first, one)):
        what = "failed to prune fields: failed add back owned items: failed to convert {} object at version " + version
        there = _converted(rules, present, version, what.format("merged"))
        here = _converted(rules, pruned, version, what.format("pruned")) if there is not None else None
        present = there or present
        if there is None or here is None:
            continue
        kept = fields.union(here.named_field_set(), there.named(owned[version]))
        pruned = there.without(fields.difference(there.named_field_set(), kept))
    return rules.convert(pruned, first) or whole
