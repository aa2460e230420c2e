"""Ownership: the graph of owners and dependents over all kinds, and the fate of objects without owners.

Pure. Must hold: an object is deleted when every owner is gone or waits for its dependents. An object with another owner
loses just the references to missing ones.
"""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation.object_meta import FOREGROUND_DELETION, ORPHAN_DEPENDENTS
from aio_apiserver.registry.generic.in_process_client import ResourcePath

Reference = Mapping[str, Any]
Change = Callable[[Object], bool]
"""Changes an object in place. Returns whether it changed."""


class GraphPlace(Struct, frozen=True):
    """A resource of the graph and its kind. All its nodes share one."""

    path: ResourcePath
    kind: str


class ObjectNode(Struct, frozen=True):
    """An object in the graph."""

    uid: str
    place: GraphPlace
    key: str
    owners: Sequence[Reference] = ()
    finalizers: Sequence[str] = ()
    is_ending: bool = False

    @property
    def waits_for_dependents(self) -> bool:
        return self.is_ending and FOREGROUND_DELETION in self.finalizers

    @property
    def orphans_dependents(self) -> bool:
        return self.is_ending and ORPHAN_DEPENDENTS in self.finalizers

    def blocks(self, owner: str) -> bool:
        """Whether this object blocks the foreground deletion of an owner."""
        return any(one["uid"] == owner and one.get("blockOwnerDeletion") for one in self.owners)


def node_of(obj: Object, place: GraphPlace, key: str) -> ObjectNode:
    """The node of an object."""
    metadata = obj["metadata"]
    return ObjectNode(
        metadata["uid"],
        place,
        key,
        tuple(metadata.get("ownerReferences") or ()),
        tuple(metadata.get("finalizers") or ()),
        bool(metadata.get("deletionTimestamp")),
    )


class Graph(Struct):
    """All known objects by uid."""

    nodes: dict[str, ObjectNode] = field(default_factory=dict)
    dependents: dict[str, set[str]] = field(default_factory=dict)

    def put(self, node: ObjectNode) -> set[str]:
        """Add or replace an object. Returns the uids of objects to reconcile."""
        before = self.nodes.get(node.uid)
        self._unlink(before)
        self.nodes[node.uid] = node
        for owner in node.owners:
            self.dependents.setdefault(owner["uid"], set()).add(node.uid)
        concerned = {node.uid} if node.owners or node.is_ending else set()
        return concerned | self._waiting_owners(before) | self._waiting_owners(node)

    def remove(self, uid: str) -> set[str]:
        """Remove an object. Returns the uids of objects to reconcile."""
        node = self.nodes.pop(uid, None)
        self._unlink(node)
        return self.dependents.get(uid, set()) | self._waiting_owners(node)

    def dependents_of(self, uid: str) -> list[ObjectNode]:
        return [self.nodes[one] for one in self.dependents.get(uid, ())]

    def _waiting_owners(self, node: ObjectNode | None) -> set[str]:
        """The owners of an object that wait for their dependents."""
        owners = (self.nodes.get(one["uid"]) for one in (node.owners if node is not None else ()))
        return {one.uid for one in owners if one is not None and one.waits_for_dependents}

    def _unlink(self, node: ObjectNode | None) -> None:
        for owner in node.owners if node is not None else ():
            others = self.dependents.get(owner["uid"], set())
            others.discard(node.uid if node is not None else "")
            if not others:
                self.dependents.pop(owner["uid"], None)


class Fate(Enum):
    """The state of an owner in a reference."""

    THERE = "there"
    GONE = "gone"
    WAITING = "waits for its dependents"


class GarbageVerdict(Struct, frozen=True):
    """The action for an object: a deletion with this propagation policy, or removal of owner references, or none."""

    delete: str = ""
    drop: frozenset[str] = frozenset()
    unblock: bool = False


def judge(fates: Mapping[str, Fate], node: ObjectNode, dependents: Sequence[ObjectNode]) -> GarbageVerdict:
    """The verdict for an object with owners."""
    lost = frozenset(uid for uid, fate in fates.items() if fate is not Fate.THERE)
    if len(lost) < len(fates):
        return GarbageVerdict(drop=lost)
    if Fate.WAITING in fates.values() and dependents:
        is_cycle = any(one.waits_for_dependents for one in dependents)
        return GarbageVerdict(delete="Foreground", unblock=is_cycle)
    if ORPHAN_DEPENDENTS in node.finalizers:
        return GarbageVerdict(delete="Orphan")
    return GarbageVerdict(delete="Foreground" if FOREGROUND_DELETION in node.finalizers else "Background")


def drop_owners(obj: Object, uids: frozenset[str]) -> bool:
    """Remove owner references. Returns whether there were any."""
    metadata = obj["metadata"]
    owners = metadata.get("ownerReferences") or []
    kept = [one for one in owners if one["uid"] not in uids]
    if kept:
        metadata["ownerReferences"] = kept
    else:
        metadata.pop("ownerReferences", None)
    return len(kept) < len(owners)


def unblock_owners(obj: Object) -> bool:
    """Set blockOwnerDeletion to false in all owner references. Returns whether one was true."""
    owners = obj["metadata"].get("ownerReferences") or ()
    blocking = [one for one in owners if one.get("blockOwnerDeletion")]
    for one in blocking:
        one["blockOwnerDeletion"] = False
    return bool(blocking)


def drop_finalizer(obj: Object, name: str) -> bool:
    """Remove a finalizer. Returns whether it was there."""
    metadata = obj["metadata"]
    finalizers = metadata.get("finalizers") or []
    kept = [one for one in finalizers if one != name]
    if kept:
        metadata["finalizers"] = kept
    else:
        metadata.pop("finalizers", None)
    return len(kept) < len(finalizers)
