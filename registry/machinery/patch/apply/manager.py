"""Manager: FieldManager, which writes metadata.managedFields of a resource and carries out server-side applies.

There is one for each version and path (main resource or subresource).

Must hold: invalid managedFields are dropped and fail no update. An apply works on the state that it replaces. Live
objects are not changed.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.empties import Empties, Empty
from aio_apiserver.registry.base.errors import BadRequest, StatusError
from aio_apiserver.registry.base.golang.decode_errors import Unconvertible
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery.patch.apply import (
    checks,
    conflicts,
    fields,
    last_applied,
    managed_fields,
    ownership,
)
from aio_apiserver.registry.machinery.patch.apply import type_converters as forms
from aio_apiserver.registry.machinery.patch.apply.conflicts import Conflicts
from aio_apiserver.registry.machinery.patch.apply.fields import Fields
from aio_apiserver.registry.machinery.patch.apply.managed_fields import Entry, Owned, Owner
from aio_apiserver.registry.machinery.patch.apply.ownership import Convert, MergeRules, Versioned
from aio_apiserver.registry.machinery.patch.apply.resets import NO_RESETS, Resets
from aio_apiserver.registry.machinery.patch.apply.shapes import ShapeError
from aio_apiserver.registry.machinery.patch.apply.type_converters import TypeConverter, TypeConverters
from aio_apiserver.registry.machinery.patch.apply.unowned import UNOWNED
from aio_apiserver.registry.machinery.schema import DecodeError

_BEFORE_FIRST_APPLY = "before-first-apply"
_NO_MANAGER = "failed to create manager for existing fields"
_FORGETTING: tuple[list[Any], ...] = ([], [{}])
"""The values with which a client resets managedFields."""


Ask = Callable[[Object, str], Awaitable[Object]]
"""Converts an object to another apiVersion by webhook. Raises ShapeError."""


class FieldManager(Struct, frozen=True):
    """form: the version of the write. forms: all served versions. Each subresource has managers of its own.

    ask: calls the conversion webhook, if there is one. convert: the webhook's results so far, see webhook_converted.py.
    """

    form: TypeConverter
    forms: TypeConverters
    now: Callable[[], str]
    subresource: str = ""
    resets: Resets = NO_RESETS
    ask: Ask | None = None
    convert: Convert | None = None

    def track(self, live: Object | None, new: Object, manager: str, empties: Empties = ()) -> None:
        """Set managedFields of a new hub object after an update of the live object (None: a create).

        empties: the empty values that the client sent in this version.
        """
        given = new["metadata"].pop("managedFields", None)
        try:
            entries = self._tracked(live, new, given, manager, empties)
        except (ShapeError, DecodeError):
            return
        if entries:
            new["metadata"]["managedFields"] = entries

    def _tracked(self, live: Object | None, new: Object, given: Any, manager: str, empties: Empties) -> Sequence[Entry]:
        if live is None and not given:
            return self._created(new, manager, empties)
        present = _entries(live)
        known = self._owners_before(present, given)
        if not known:
            return [] if live is not None else self._created(new, manager, empties)
        before = self._versioned(live)
        after = self.form.printed(new, empties)
        is_same = before.value == after.value and (not given or given == present)
        if is_same and self.ask is None and self._are_served(known):
            return present
        left, mine = ownership.updated(self._rules, before, after, known)
        self._own(left, mine, manager)
        return managed_fields.written(managed_fields.capped(left))

    def _owners_before(self, present: Sequence[Entry], given: Any) -> dict[Owner, Owned]:
        """The managed fields before the write: those in the client's object if they are valid, else those of the live
        object.
        """
        if not self.subresource and given is not None:
            if given in _FORGETTING:
                return {}
            try:
                known = managed_fields.read(given) if given != present else {}
            except ValueError:
                known = {}
            if known:
                return known
        return managed_fields.owners(present)

    def _created(self, new: Object, manager: str, empties: Empties) -> Sequence[Entry]:
        """The entries of a created object; a shortcut with the same result."""
        mine = self.resets.kept(self.form.created_fields(self.form.printed_value(new, empties)))
        if not mine:
            return []
        owner = managed_fields.updater(manager, self.form.api_version, self.subresource)
        return [managed_fields.entry(owner, Owned(self.form.api_version, mine, self.now()))]

    def _own(self, left: dict[Owner, Owned], mine: Fields, manager: str) -> None:
        """Add the fields of this write to its updater."""
        mine = fields.difference(mine, UNOWNED)
        if mine:
            owner = managed_fields.updater(manager, self.form.api_version, self.subresource)
            before = left[owner].fields if owner in left else fields.NOTHING
            left[owner] = Owned(self.form.api_version, fields.union(mine, before), self.now())

    def _are_served(self, known: managed_fields.Managed) -> bool:
        return all(owned.api_version in self.forms for owned in known.values())

    def apply(
        self, live: Object | None, config: Any, manager: str, *, force: bool, empties: list[Empty] | None = None
    ) -> Object:
        """The hub object after an apply in this version. Fills `empties` with the empty values.

        Raises ApplyConflict, BadRequest, and StatusError when the configuration does not fit the type.
        """
        self._check_kind(config)
        before, wanted = self._versioned(live), self.form.versioned(config)
        known = managed_fields.owners(_entries(live)) or self._before_first_apply(before)
        self._check(config, before)
        owner = managed_fields.applier(manager, self.subresource)
        try:
            after, left = self._applied(before, wanted, known, owner, force=force)
        except Conflicts as exc:
            raise conflicts.error(exc) from exc
        except ShapeError as exc:
            raise StatusError(str(exc)) from exc
        is_changed = after.value != before.value
        hub = self._hub(after, config, empties) if is_changed or live is None else objects.clone(live)
        if manager == last_applied.MANAGER:
            last_applied.kept_true(hub, config)
        self._settle(left, owner, is_changed=is_changed)
        _write(hub, managed_fields.written(left))
        return hub

    def _applied(
        self, before: Versioned, wanted: Versioned, known: managed_fields.Managed, owner: Owner, *, force: bool
    ) -> tuple[Versioned, dict[Owner, Owned]]:
        """Apply; kubectl may also take the fields that it owns from client-side apply."""
        try:
            return ownership.applied(self._rules, before, wanted, known, owner=owner, force=force)
        except Conflicts as exc:
            if owner.manager != last_applied.MANAGER:
                raise
            left = exc.outside(last_applied.still_as_applied(before))
            if left:
                raise Conflicts(left) from exc
            return ownership.applied(self._rules, before, wanted, known, owner=owner, force=True)

    def _before_first_apply(self, live: Versioned) -> dict[Owner, Owned]:
        """The entry `before-first-apply` for an object without managedFields.

        Raises StatusError when the object does not fit its present type.
        """
        if self.form.refusal:
            what = f"failed to convert live object (/; {forms.kind_text(self.form.view.object_kind)}) to proper version"
            raise StatusError(f"{_NO_MANAGER}: {what}: {self.form.refusal}")
        if found := checks.misfits(live.shape, live.value, allows_duplicates=True):
            what = f"failed to convert new object ({_subject(live.value)}) to smd typed: {checks.summary(found)}"
            raise StatusError(f"{_NO_MANAGER}: {what}")
        known: dict[Owner, Owned] = {}
        try:
            _, mine = ownership.updated(self._rules, self.form.nothing, live, {})
        except ShapeError:
            return known
        self._own(known, mine, _BEFORE_FIRST_APPLY)
        return known

    def _settle(self, left: dict[Owner, Owned], owner: Owner, *, is_changed: bool) -> None:
        """Drop fields without a manager from the applier's set. Its time changes when the object changes."""
        mine = left.pop(owner, None)
        owned = fields.difference(mine.fields, UNOWNED) if mine else fields.NOTHING
        if mine and owned:
            left[owner] = replace(mine, fields=owned, time=self.now() if is_changed else mine.time)

    def _versioned(self, live: Object | None) -> Versioned:
        return self.form.nothing if live is None else self.form.stored(live)

    def _hub(self, applied: Versioned, config: Object, empties: list[Empty] | None) -> Object:
        failure = f"failed to convert new object ({_subject(config)}) to proper version: "
        if self.form.refusal:
            raise StatusError(failure + self.form.refusal)
        try:
            return self.form.hub(applied.value, empties)
        except Unconvertible as exc:
            raise StatusError(f"failed to convert to unversioned ({_subject(config)}): {exc.message}") from exc
        except DecodeError as exc:
            raise StatusError(failure + self.form.unfit(exc)) from exc

    @property
    def _rules(self) -> MergeRules:
        resets_only = "" if self.subresource else self.form.resets_only
        return MergeRules(self.convert or forms.Conversions(self.forms), self.resets, resets_only)

    def _check_kind(self, config: Object) -> None:
        """Raises BadRequest for another kind."""
        kind = _kind_of(config)
        if kind != self.form.view.object_kind:
            raise BadRequest(f"invalid object type: {forms.kind_text(kind)}")

    def _check(self, config: Object, live: Versioned) -> None:
        """Raises BadRequest, and StatusError when the configuration or the live object does not fit its type."""
        if managed_fields.may_be_read(objects.get(config, "metadata.managedFields")):
            raise BadRequest("metadata.managedFields must be nil")
        if found := checks.misfits(self.form.shape, config):
            raise StatusError(f"failed to create typed patch object ({_subject(config)}): {checks.summary(found)}")
        if found := checks.misfits(live.shape, live.value, allows_duplicates=True):
            raise StatusError(f"failed to create typed live object ({_subject(live.value)}): {checks.summary(found)}")


def _entries(live: Object | None) -> Sequence[Entry]:
    entries: Sequence[Entry] = live["metadata"].get("managedFields") or [] if live else []
    return entries


def _write(obj: Object, entries: Sequence[Entry]) -> None:
    if entries:
        obj["metadata"]["managedFields"] = entries
    else:
        obj["metadata"].pop("managedFields", None)


def _kind_of(config: Object) -> GroupVersionKind:
    """The kind that a configuration names."""
    api_version, kind = (one if isinstance(one, str) else "" for one in (config.get("apiVersion"), config.get("kind")))
    if api_version.count("/") > 1:
        return GroupVersionKind("", "", "")
    group, _, version = api_version.rpartition("/")
    return GroupVersionKind(group, version, kind)


def _subject(config: Object) -> str:
    """Name and kind of a configuration, for messages."""
    names = (objects.get(config, f"metadata.{name}", "") for name in ("namespace", "name"))
    shown = "/".join(name if isinstance(name, str) else "" for name in names)
    return f"{shown}; {forms.kind_text(_kind_of(config))}"
