"""conditions: The conditions in the status of an object: find, set, report and remove them. Pure.

Must hold: lastTransitionTime changes with the status of a condition, not with its reason or message alone.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object

Condition = dict[str, Any]


def find(status: Mapping[str, Any], kind: str) -> Condition | None:
    """The condition of this type, if the status has one."""
    return next((one for one in status.get("conditions") or () if one.get("type") == kind), None)


def is_true(status: Mapping[str, Any], kind: str) -> bool:
    return _says(status, kind, "True")


def is_false(status: Mapping[str, Any], kind: str) -> bool:
    """Whether the condition is there with status False; a missing or Unknown condition is neither true nor false."""
    return _says(status, kind, "False")


def put(status: Object, condition: Mapping[str, Any], *, now: str) -> None:
    """Append a condition, or replace the condition of the same type."""
    present = status["conditions"] = list(status.get("conditions") or ())
    old = find(status, condition["type"])
    if old is None:
        present.append({**condition, "lastTransitionTime": now})
        return
    since = old.get("lastTransitionTime") if old.get("status") == condition["status"] else now
    present[present.index(old)] = {**condition, "lastTransitionTime": since}


def report(status: Object, kind: str, value: str, *, now: str, **members: Any) -> None:
    """Set a condition as controllers do: the same status and reason again change nothing, not even the message."""
    present = find(status, kind)
    wanted = {"type": kind, "status": value, **members}
    if present is not None:
        if present["status"] == value and present.get("reason") == members.get("reason"):
            return
        if present["status"] == value:
            wanted["lastTransitionTime"] = present.get("lastTransitionTime")
    wanted.setdefault("lastTransitionTime", now)
    status["conditions"] = [*_others(status, kind), wanted]


def remove(status: Object, kind: str) -> None:
    """Take the condition of a type off; a status without conditions loses the list."""
    kept = _others(status, kind)
    if kept:
        status["conditions"] = kept
    else:
        status.pop("conditions", None)


def has(status: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether a condition of the wanted type has all members that are wanted."""
    present = find(status, wanted["type"]) or {}
    return all(present.get(name) == value for name, value in wanted.items())


def _others(status: Mapping[str, Any], kind: str) -> list[Condition]:
    return [one for one in status.get("conditions") or () if one["type"] != kind]


def _says(status: Mapping[str, Any], kind: str, value: str) -> bool:
    found = find(status, kind)
    return found is not None and found.get("status") == value
