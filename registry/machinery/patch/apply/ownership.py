"""Ownership: field sets after an update or apply, and the object after an apply, SMD's merge.Updater.

Pure. Must hold: an apply does not remove fields that another manager owns. Reset fields get no manager.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.registry.machinery.patch.apply import compare, contents, fields, merge, reconcile, removal
from aio_apiserver.registry.machinery.patch.apply.compare import Comparison
from aio_apiserver.registry.machinery.patch.apply.conflicts import Conflicts, FieldConflict
from aio_apiserver.registry.machinery.patch.apply.fields import Fields
from aio_apiserver.registry.machinery.patch.apply.managed_fields import Managed, Owned, Owner
from aio_apiserver.registry.machinery.patch.apply.resets import NO_RESETS, Resets
from aio_apiserver.registry.machinery.patch.apply.shapes import ABSENT, Shape, ShapeError


class Versioned(Struct, frozen=True):
    """A value in one version, with the shape of its type."""

    api_version: str
    shape: Shape
    value: dict[str, Any]

    def field_set(self) -> Fields:
        """The fields that it sets."""
        return contents.field_set(self.shape, self.value)

    def named_field_set(self) -> Fields:
        """The fields that it sets, and the named fields above them."""
        return contents.with_named_fields(self.shape, self.field_set())

    def named(self, found: Fields) -> Fields:
        return contents.with_named_fields(self.shape, found)

    def compared(self, new: "Versioned") -> Comparison:
        return compare.compared(self.shape, self.value, new.value)

    def without(self, removed: Fields) -> "Versioned":
        return replace(self, value=removal.without(self.shape, self.value, removed))

    def merged(self, config: "Versioned") -> "Versioned":
        value = merge.merged(self.shape, self.value, config.value)
        return replace(self, value={} if value is ABSENT else value)


class Convert(Protocol):
    """Converts a value to another version; None for a version that is not served."""

    def __call__(self, obj: Versioned, api_version: str, /) -> Versioned | None: ...


class MergeRules(Struct, frozen=True):
    """The conversion of a resource and the reset fields of this path.

    resets_only: the one version in which the reset fields count; empty when they count in all.
    """

    convert: Convert
    resets: Resets
    resets_only: str = ""

    def resets_in(self, api_version: str) -> Resets:
        return self.resets if self.resets_only in {"", api_version} else NO_RESETS


def updated(rules: MergeRules, live: Versioned, new: Versioned, managed: Managed) -> tuple[dict[Owner, Owned], Fields]:
    """The fields of each manager after an update, and the fields of the writer. Raises ShapeError."""
    change = live.compared(new).within(rules.resets)
    reconciled = _reconciled(rules, live, managed)
    left, _ = _owned_after(rules, live, new, reconciled, change)
    return left, change.changed


def applied(
    rules: MergeRules, live: Versioned, config: Versioned, managed: Managed, *, owner: Owner, force: bool
) -> tuple[Versioned, dict[Owner, Owned]]:
    """The object and the fields of each manager after an apply. Raises Conflicts and ShapeError."""
    before = _reconciled(rules, live, managed)
    last = before.get(owner)
    time = managed[owner].time if owner in managed else ""
    mine = Owned(live.api_version, rules.resets.kept(config.field_set()), time)
    wanted = {**before, owner: mine}
    new = live.merged(config)
    if last is not None and last.fields and not keeps_all(last, mine, wanted):
        new = pruned(rules, new, wanted, last)
    change = live.compared(new).within(rules.resets)
    others = {one: owned for one, owned in wanted.items() if one != owner}
    left, conflicts = _owned_after(rules, live, new, others, change)
    if conflicts and not force:
        raise Conflicts(conflicts)
    if mine.fields:
        left[owner] = mine
    return new, left


def _reconciled(rules: MergeRules, live: Versioned, managed: Managed) -> dict[Owner, Owned]:
    """The managed fields under the present types; types may have changed since they were written."""
    result = {}
    for owner, owned in managed.items():
        there = rules.convert(live, owned.api_version)
        if there is not None:
            under = reconcile.reconciled(there.shape, owned.fields)
            result[owner] = owned if under is owned.fields else replace(owned, fields=under)
    return result


def _owned_after(
    rules: MergeRules, live: Versioned, new: Versioned, managed: Managed, change: Comparison
) -> tuple[dict[Owner, Owned], list[FieldConflict]]:
    """The fields that managers keep after a change, and the conflicts about fields that they lose."""
    changes: dict[str, Comparison | None] = {new.api_version: change}
    left: dict[Owner, Owned] = {}
    conflicts: list[FieldConflict] = []
    for owner, owned in managed.items():
        if owned.api_version not in changes:
            changes[owned.api_version] = _change_in(rules, live, new, owned.api_version)
        there = changes[owned.api_version]
        if there is None:
            continue
        taken = fields.intersection(owned.fields, there.changed)
        if taken:
            conflicts += (FieldConflict(owner, path) for path in fields.members(taken))
        rest = fields.difference(fields.difference(owned.fields, taken), there.removed)
        if rest:
            left[owner] = owned if rest is owned.fields else replace(owned, fields=rest)
    return left, conflicts


def _change_in(rules: MergeRules, live: Versioned, new: Versioned, api_version: str) -> Comparison | None:
    old = _converted(rules, live, api_version, "failed to convert old object")
    changed = _converted(rules, new, api_version, "failed to convert new object") if old is not None else None
    return None if old is None or changed is None else old.compared(changed).within(rules.resets_in(api_version))


def keeps_all(last: Owned, mine: Owned, managed: Managed) -> bool:
    """Whether an apply drops no field of its last one, as most do, so that nothing is pruned.

    False when there are other versions, since a conversion may fail.
    """
    if any(one.api_version != mine.api_version for one in managed.values()):
        return False
    return not fields.difference(last.fields, mine.fields)


def pruned(rules: MergeRules, merged: Versioned, managed: Managed, last: Owned) -> Versioned:
    """The merged object without fields that the applier has dropped and no other manager owns."""
    what = "failed to prune fields: failed to convert merged object to last applied version"
    whole = _converted(rules, merged, last.api_version, what)
    if whole is None:
        return merged
    dropped = whole.named(last.fields)
    left = _with_owned(rules, whole, whole.without(dropped), _by_version(managed))
    gone = fields.intersection(fields.difference(whole.named_field_set(), left.named_field_set()), dropped)
    return _converted(rules, whole.without(gone), merged.api_version, "failed to prune fields") or merged


def _converted(rules: MergeRules, obj: Versioned, api_version: str, failure: str) -> Versioned | None:
    try:
        return rules.convert(obj, api_version)
    except ShapeError as exc:
        raise ShapeError(f"{failure}: {exc}") from exc


def _by_version(managed: Managed) -> Mapping[str, Fields]:
    owned: dict[str, list[Fields]] = {}
    for one in managed.values():
        owned.setdefault(one.api_version, []).append(one.fields)
    return {version: fields.union_of(sets) for version, sets in owned.items()}


def _with_owned(rules: MergeRules, whole: Versioned, pruned: Versioned, owned: Mapping[str, Fields]) -> Versioned:
    """The pruned object with all fields that other managers own.

    The version of the pruning comes first. Without its owned fields, the object may not convert.
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
