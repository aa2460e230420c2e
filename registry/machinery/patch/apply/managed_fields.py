"""Managed fields: the entries of metadata.managedFields: the fields of each manager, and the time of its last write.

Pure. Must hold: a list with an invalid entry raises ValueError as a whole. Entries are written in kube-apiserver's
order: applies before updates, then by time.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.machinery.patch.apply import fields
from aio_apiserver.registry.machinery.patch.apply.fields import Fields
from aio_apiserver.registry.machinery.schema import DecodeError, times

APPLY, UPDATE = "Apply", "Update"
FIELDS_V1 = "FieldsV1"
MAX_UPDATERS = 10
_ANCIENT = "ancient-changes"
_UNKNOWN = "unknown"

Entry = Mapping[str, Any]
"""One entry of metadata.managedFields."""


class Owner(Struct, frozen=True):
    """The identity of a manager. Updates of different versions are different managers. For applies, api_version is
    empty.
    """

    manager: str
    operation: str
    api_version: str
    subresource: str = ""

    @property
    def is_applier(self) -> bool:
        return self.operation == APPLY

    def __str__(self) -> str:
        """The identifier as kube-apiserver writes it; conflicts are sorted by it."""
        members = {"manager": self.manager, "operation": self.operation, "apiVersion": self.api_version}
        if self.subresource:
            members["subresource"] = self.subresource
        return ",".join(f'"{name}":"{value}"' for name, value in members.items() if value) + "}"


def applier(manager: str, subresource: str) -> Owner:
    return Owner(manager or _UNKNOWN, APPLY, "", subresource)


def updater(manager: str, api_version: str, subresource: str) -> Owner:
    return Owner(manager or _UNKNOWN, UPDATE, api_version, subresource)


class Owned(Struct, frozen=True):
    """The fields of a manager in one version, and their time (RFC 3339; empty when unknown)."""

    api_version: str
    fields: Fields
    time: str = ""


Managed = Mapping[Owner, Owned]


def read(entries: Sequence[Entry]) -> dict[Owner, Owned]:
    """The managers of a client's entries. Raises ValueError."""
    return {_owner(entry): _checked(entry, number) for number, entry in enumerate(entries)}


_TEXTS = ("manager", "operation", "apiVersion", "fieldsType", "subresource")


def may_be_read(value: Any) -> bool:
    """Whether a client's value decodes as a list of entries."""
    return isinstance(value, list) and all(isinstance(one, dict) and _is_entry(one) for one in value)


def _is_entry(value: Mapping[str, Any]) -> bool:
    return all(isinstance(value.get(name), str | None) for name in _TEXTS) and _is_time(value.get("time"))


def _is_time(value: Any) -> bool:
    if not isinstance(value, str):
        return value is None
    try:
        times.time(value)
    except DecodeError:
        return False
    return True


def owners(entries: Sequence[Entry]) -> dict[Owner, Owned]:
    """The managers of entries that this server has written."""
    return {
        _owner(entry): Owned(entry["apiVersion"], entry.get("fieldsV1") or fields.NOTHING, entry.get("time") or "")
        for entry in entries
    }


def _owner(entry: Entry) -> Owner:
    operation = entry.get("operation") or ""
    api_version = "" if operation == APPLY else entry.get("apiVersion") or ""
    return Owner(entry.get("manager") or "", operation, api_version, entry.get("subresource") or "")


def _checked(entry: Entry, number: int) -> Owned:
    if entry.get("operation") not in {APPLY, UPDATE}:
        raise ValueError("operation must be `Apply` or `Update`")
    api_version, fields_type = entry.get("apiVersion"), entry.get("fieldsType")
    if not api_version:
        raise ValueError("apiVersion must not be empty")
    if not fields_type:
        raise ValueError(f"missing fieldsType in managed fields entry {number}")
    if fields_type != FIELDS_V1:
        raise ValueError(f'invalid fieldsType "{fields_type}" in managed fields entry {number}')
    return Owned(api_version, fields.decoded(entry.get("fieldsV1") or {}), entry.get("time") or "")


def written(managed: Managed) -> list[dict[str, Any]]:
    """The entries in order."""
    ordered = sorted(managed.items(), key=_order) if len(managed) > 1 else managed.items()
    return [entry(owner, owned) for owner, owned in ordered]


def _order(item: tuple[Owner, Owned]) -> tuple[str, ...]:
    owner, owned = item
    return owner.operation, owned.time, owner.manager, owned.api_version, owner.subresource


def entry(owner: Owner, owned: Owned) -> dict[str, Any]:
    """One entry."""
    written_entry: dict[str, Any] = {
        "manager": owner.manager,
        "operation": owner.operation,
        "apiVersion": owned.api_version,
    }
    if owned.time:
        written_entry["time"] = owned.time
    written_entry["fieldsType"] = FIELDS_V1
    written_entry["fieldsV1"] = owned.fields
    if owner.subresource:
        written_entry["subresource"] = owner.subresource
    return written_entry


def capped(managed: dict[Owner, Owned]) -> dict[Owner, Owned]:
    """Merge the oldest updates of a version into one entry when there are too many."""
    updaters = [owner for owner in managed if not owner.is_applier]
    surplus = len(updaters) - MAX_UPDATERS
    if surplus <= 0:
        return managed
    oldest = sorted(updaters, key=lambda one: (managed[one].time, str(one)))
    result = dict(managed)
    for version, owners in _surplus(oldest, managed, surplus).items():
        bucket = updater(_ANCIENT, version, "")
        merged = [*owners[1:], bucket] if bucket in managed else owners
        together = fields.union_of([result.pop(owner).fields for owner in dict.fromkeys(merged)])
        result[bucket] = Owned(version, together, managed[owners[-1]].time)
    return result


def _surplus(oldest: Sequence[Owner], managed: Managed, surplus: int) -> Mapping[str, Sequence[Owner]]:
    """The owners that become one, by version: the first of a version costs nothing, each further one saves an entry."""
    first: dict[str, list[Owner]] = {}
    for owner in oldest:
        if surplus <= 0:
            break
        same = first.setdefault(managed[owner].api_version, [])
        surplus -= bool(same)
        same.append(owner)
    return {version: owners for version, owners in first.items() if len(owners) > 1}
