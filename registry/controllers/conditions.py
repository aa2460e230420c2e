"""Conditions in a status: found, set, removed. Pure."""

from typing import Any

from storage.stored_object import Object


def get(status: Object, kind: str) -> Object | None:
    """The condition of a type."""
    for one in status.get("conditions") or ():
        if one["type"] == kind:
            found: Object = one
            return found
    return None


def is_true(status: Object, kind: str) -> bool:
    """Whether a condition holds."""
    found = get(status, kind)
    return found is not None and found["status"] == "True"


def put(status: Object, kind: str, value: str, *, now: str, **members: Any) -> None:
    """Set a condition; without change of status and reason it stays as it is, without one of status its time does."""
    present = get(status, kind)
    wanted = {"type": kind, "status": value, **members}
    if present is not None:
        if present["status"] == value and present.get("reason") == members.get("reason"):
            return
        if present["status"] == value:
            wanted["lastTransitionTime"] = present.get("lastTransitionTime")
    wanted.setdefault("lastTransitionTime", now)
    status["conditions"] = [one for one in status.get("conditions") or () if one["type"] != kind] + [wanted]


def remove(status: Object, kind: str) -> None:
    """Say nothing of it."""
    conditions = [one for one in status.get("conditions") or () if one["type"] != kind]
    if conditions:
        status["conditions"] = conditions
    else:
        status.pop("conditions", None)
