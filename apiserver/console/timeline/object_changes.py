"""object_changes: changes of objects as entries of the timeline: what changed, at which fields, by which manager.

Pure. Must hold: no entry has a secret value. Of a Secret whose data changed, the names of the keys are shown. An entry
is small, however large the object is, and its work is paid for before it is done.
"""

from collections.abc import Mapping, Sequence
from sys import getsizeof
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.apiserver.console.timeline import differences
from aio_apiserver.apiserver.console.timeline.differences import Differences, FieldDifference
from aio_apiserver.apiserver.console.timeline.hidden_values import without_secrets
from aio_apiserver.base.budget import Budget, BudgetLimits
from aio_apiserver.base.short_texts import cut
from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.change import Change

LIMITS = BudgetLimits(steps=50_000, bytes_made=16 * 1024 * 1024)
"""For one change: its objects are read, and compared. Two config maps with 30,000 keys take a tenth of it."""
_LONGEST = 512
_HOLDER = "spec.holderIdentity"
_OF_NODES = "kube-node-lease"
LEADER = "leader"
_BYTES, _FIELD_BYTES = 600, 80
"""The memory of an entry and of a difference without their texts."""


class ChangedStates(Struct, frozen=True):
    """A change of an object as JSON texts, read on the event loop: b"" where there was no object."""

    group: str
    resource: str
    revision: int
    at: float
    before: bytes
    after: bytes

    @property
    def is_secret(self) -> bool:
        """Whether the object is a Secret."""
        return (self.group, self.resource) == ("", "secrets")


class ObjectChange(Struct, frozen=True, kw_only=True, rename="camel"):
    """One change. about: `leader` for a lease with another holder, whose name is in `holder`; `renewal` for other
    changes of a lease, and for those of nodes; `collected` for the deletion of an object with an owner.

    count: the fields that differ, of which `differences` has the first ones. is_compared: False for a change that is
    too large to compare.
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
    differences: tuple[FieldDifference, ...]
    count: int
    is_compared: bool

    @property
    def size(self) -> int:
        """The bytes in memory."""
        texts = (self.namespace, self.name, self.uid, self.manager, self.operation, self.owner, self.holder)
        of_fields = sum(getsizeof(text) for one in self.differences for text in one)
        return _BYTES + sum(map(getsizeof, texts)) + of_fields + _FIELD_BYTES * len(self.differences)


def states_of(group: str, resource: str, change: Change, at: float) -> ChangedStates:
    """The states of a change, as they are stored. Raises Corrupt."""
    before, after = (stored.json if stored is not None else b"" for stored in (change.previous, change.current))
    return ChangedStates(group, resource, change.revision, at, before, after)


def object_change(states: ChangedStates, budget: Budget) -> ObjectChange:
    """The entry of one change. Raises BudgetExceeded."""
    before, after = decoded(states.before, budget), decoded(states.after, budget)
    compared = Differences()
    if before and after:
        compared = differences.differences(before, after, budget, is_secret=states.is_secret)
    return _entry(states, before, after, compared, _last_writer(before, after, budget))


def uncompared(states: ChangedStates, budget: Budget) -> ObjectChange:
    """The entry of a change that is too large to compare. Raises BudgetExceeded for objects of more than 16 MiB."""
    return _entry(states, decoded(states.before, budget), decoded(states.after, budget), None, {})


def decoded(data: bytes, budget: Budget) -> Object:
    """The object; an empty one for no data. Raises BudgetExceeded."""
    budget.make(len(data))
    obj: Object = orjson.loads(data) if data else {}
    return obj


def object_then(states: ChangedStates, data: bytes, budget: Budget) -> Object:
    """One state without secret values. Raises BudgetExceeded."""
    return without_secrets(decoded(data, budget), budget, is_secret=states.is_secret)


def _entry(
    states: ChangedStates, before: Object, after: Object, compared: Differences | None, writer: Mapping[str, Any]
) -> ObjectChange:
    metadata: Mapping[str, Any] = (after or before).get("metadata", {})
    kind = "ADDED" if not before else "MODIFIED" if after else "DELETED"
    fields = () if compared is None else compared.fields
    about = _about(states, metadata, fields, kind)
    owners = metadata.get("ownerReferences") or ()
    return ObjectChange(
        revision=states.revision,
        at=states.at,
        type=kind,
        group=states.group,
        resource=states.resource,
        namespace=metadata.get("namespace", ""),
        name=metadata.get("name", ""),
        uid=metadata.get("uid", ""),
        manager=writer.get("manager", ""),
        operation=" ".join(filter(None, (writer.get("operation"), writer.get("subresource")))),
        owner=cut(next((f"{one.get('kind')}/{one.get('name')}" for one in owners), ""), _LONGEST),
        about=about,
        holder=cut(str((after.get("spec") or {}).get("holderIdentity") or ""), _LONGEST) if about == LEADER else "",
        differences=fields,
        count=0 if compared is None else compared.count,
        is_compared=compared is not None,
    )


def _last_writer(before: Object, after: Object, budget: Budget) -> Mapping[str, Any]:
    """The entry of managedFields that the change has written. Entries that have merely lost fields keep their times."""
    earlier = before.get("metadata", {}).get("managedFields") or ()
    entries = after.get("metadata", {}).get("managedFields") or ()
    budget.spend(len(earlier) + len(entries))
    known = {_writer(one): one for one in earlier}
    changed = [one for one in entries if known.get(_writer(one)) != one]
    written = [one for one in changed if known.get(_writer(one), {}).get("time", "") != one.get("time")] or changed
    newest: Mapping[str, Any] = max(written, key=lambda one: str(one.get("time", "")), default={})
    return newest


def _writer(entry: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(entry.get(name) for name in ("manager", "operation", "subresource", "apiVersion"))


def _about(states: ChangedStates, metadata: Mapping[str, Any], fields: Sequence[FieldDifference], kind: str) -> str:
    if states.resource == "leases" and states.group == "coordination.k8s.io":
        is_taken = kind == "ADDED" or any(one.path == _HOLDER for one in fields)
        return LEADER if is_taken and metadata.get("namespace") != _OF_NODES else "renewal"
    return "collected" if kind == "DELETED" and metadata.get("ownerReferences") else ""
