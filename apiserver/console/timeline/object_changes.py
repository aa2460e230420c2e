"""object_changes: changes of objects as entries of the timeline: what changed, at which fields, by which manager.

Pure. Must hold: no entry has a secret value. Of a Secret whose data changed, the names of the keys are shown.
"""

from collections.abc import Mapping
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.apiserver.console.timeline.differences import FieldDifference, differences
from aio_apiserver.apiserver.console.timeline.hidden_values import HIDDEN, without_secrets
from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.stored_object import StoredObject

_CHANGED = '"(hidden, changed)"'
_HOLDER = "spec.holderIdentity"
_OF_NODES = "kube-node-lease"
LEADER = "leader"


class ObjectChange(Struct, kw_only=True):
    """One change. about: `leader` for a lease with another holder, whose name is in `holder`; `renewal` for other
    changes of a lease, and for those of nodes; `collected` for the deletion of an object with an owner.
    """

    revision: int
    at: float
    type: str
    group: str
    resource: str
    namespace: str
    name: str
    uid: str
    manager: str
    operation: str
    owner: str
    about: str
    holder: str
    differences: list[FieldDifference]


def object_change(group: str, resource: str, change: Change, at: float) -> ObjectChange:
    """The entry of one change. Raises Corrupt."""
    before, after = _decoded(change.previous), _decoded(change.current)
    shown = after or before
    metadata: Mapping[str, Any] = shown.get("metadata", {})
    found = _differences(before, after, is_secret=resource == "secrets" and not group) if before and after else []
    entry = _last_writer(before, after)
    owners = metadata.get("ownerReferences") or ()
    owner = next((f"{one.get('kind')}/{one.get('name')}" for one in owners), "")
    kind = "ADDED" if not before else "MODIFIED" if after else "DELETED"
    about = _about(group, resource, metadata, found, kind)
    return ObjectChange(
        revision=change.revision,
        at=at,
        type=kind,
        group=group,
        resource=resource,
        namespace=metadata.get("namespace", ""),
        name=metadata.get("name", ""),
        uid=metadata.get("uid", ""),
        manager=entry.get("manager", ""),
        operation=" ".join(filter(None, (entry.get("operation"), entry.get("subresource")))),
        owner=owner,
        about=about,
        holder=str((after.get("spec") or {}).get("holderIdentity") or "") if about == LEADER else "",
        differences=found,
    )


def object_then(group: str, resource: str, stored: StoredObject) -> Object:
    """The object as it was, without secret values."""
    return without_secrets(_decoded(stored), is_secret=resource == "secrets" and not group)


def _decoded(stored: StoredObject | None) -> Object:
    decoded: Object = orjson.loads(stored.json) if stored is not None else {}
    return decoded


def _differences(before: Object, after: Object, *, is_secret: bool) -> list[FieldDifference]:
    """The differences, with `(hidden, changed)` where the secret values differ."""
    hidden = [without_secrets(one, is_secret=is_secret) for one in (before, after)]
    found = differences(*hidden)
    known = {one.path for one in found}
    silent = [
        FieldDifference(one.path, f'"{HIDDEN}"', _CHANGED)
        for one in differences(before, after)
        if one.path not in known
    ]
    return [*found, *silent]


def _last_writer(before: Object, after: Object) -> Mapping[str, Any]:
    """The entry of managedFields that the change has written. Entries that have merely lost fields keep their times."""
    earlier = before.get("metadata", {}).get("managedFields") or ()
    entries = after.get("metadata", {}).get("managedFields") or ()
    known = {_writer(one): one.get("time") for one in earlier}
    changed = [one for one in entries if one not in earlier]
    written = [one for one in changed if known.get(_writer(one), "") != one.get("time")] or changed
    newest: Mapping[str, Any] = max(written, key=lambda one: str(one.get("time", "")), default={})
    return newest


def _writer(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(entry.get(name) for name in ("manager", "operation", "subresource", "apiVersion"))


def _about(group: str, resource: str, metadata: Mapping[str, Any], found: list[FieldDifference], kind: str) -> str:
    if resource == "leases" and group == "coordination.k8s.io":
        is_taken = kind == "ADDED" or any(one.path == _HOLDER for one in found)
        return LEADER if is_taken and metadata.get("namespace") != _OF_NODES else "renewal"
    return "collected" if kind == "DELETED" and metadata.get("ownerReferences") else ""
