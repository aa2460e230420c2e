"""Conditions of pods as the server itself sets them. Pure."""

from collections.abc import Mapping
from typing import Any

from storage.stored_object import Object


def put(status: Object, condition: Mapping[str, Any], *, now: str) -> None:
    """Add a condition, or put it in the place of the one of its type; the time of the transition stays if none is."""
    conditions = status.setdefault("conditions", [])
    for index, present in enumerate(conditions):
        if present.get("type") == condition["type"]:
            is_same = present.get("status") == condition["status"]
            since = present.get("lastTransitionTime") if is_same else now
            conditions[index] = {**condition, "lastTransitionTime": since}
            return
    conditions.append({**condition, "lastTransitionTime": now})


def is_ready(pod: Object) -> bool:
    """Whether the pod says that it can do its work."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)
