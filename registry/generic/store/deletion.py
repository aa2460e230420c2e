"""Deletion: the finalizers of a deletion, as decisions on metadata alone.

Foreground deletion and orphaning are finalizers (`foregroundDeletion`, `orphan`). The garbage collector removes them
when it is done with the dependents. Must hold: at most one of the two is set; other finalizers stay as they are.
"""

from collections.abc import Sequence
from typing import Any

from aio_apiserver.registry.base.validation.object_meta import FOREGROUND_DELETION, ORPHAN_DEPENDENTS
from aio_apiserver.registry.generic.options import DeleteOptions
from aio_apiserver.registry.generic.rest import timestamp
from aio_apiserver.registry.generic.strategy import GarbageCollection


def finalizers_for(metadata: dict[str, Any], options: DeleteOptions, policy: GarbageCollection) -> list[str]:
    """The finalizers of an object when this deletion begins."""
    present: Sequence[str] = metadata.get("finalizers") or ()
    wanted = [name for name in present if name not in {ORPHAN_DEPENDENTS, FOREGROUND_DELETION}]
    if _orphans(present, options, policy):
        wanted.append(ORPHAN_DEPENDENTS)
    elif _waits_for_dependents(present, options, policy):
        wanted.append(FOREGROUND_DELETION)
    return list(present) if set(wanted) == set(present) else wanted


def _orphans(present: Sequence[str], options: DeleteOptions, policy: GarbageCollection) -> bool:
    """Precedence: the options of the request, the present finalizers, the kind's default."""
    if policy is GarbageCollection.UNSUPPORTED:
        return False
    if options.orphan_dependents is not None:
        return options.orphan_dependents
    if options.propagation_policy is not None:
        return options.propagation_policy == "Orphan"
    for name in present:
        if name in {ORPHAN_DEPENDENTS, FOREGROUND_DELETION}:
            return name == ORPHAN_DEPENDENTS
    return policy is GarbageCollection.ORPHAN_DEPENDENTS


def _waits_for_dependents(present: Sequence[str], options: DeleteOptions, policy: GarbageCollection) -> bool:
    if policy is GarbageCollection.UNSUPPORTED or options.orphan_dependents is not None:
        return False
    if options.propagation_policy is not None:
        return options.propagation_policy == "Foreground"
    for name in present:
        if name in {ORPHAN_DEPENDENTS, FOREGROUND_DELETION}:
            return name == FOREGROUND_DELETION
    return False


def mark_as_deleting(metadata: dict[str, Any], *, now: float) -> None:
    """Begin the deletion of an object without grace; it is removed with its last finalizer."""
    if not metadata.get("deletionTimestamp") and metadata.get("generation", 0) > 0:
        metadata["generation"] += 1
    begins = timestamp(now)
    if not metadata.get("deletionTimestamp") or metadata["deletionTimestamp"] > begins:
        metadata["deletionTimestamp"] = begins
    metadata["deletionGracePeriodSeconds"] = 0


def ends_with(new: dict[str, Any], old: dict[str, Any]) -> bool:
    """Whether this update of a terminating object removes it: no finalizer and no grace is left."""
    return (
        not new.get("finalizers") and bool(old.get("deletionTimestamp")) and not old.get("deletionGracePeriodSeconds")
    )
