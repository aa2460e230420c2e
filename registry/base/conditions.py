"""Conditions in the status of an object: finding, asking and setting them. Pure.

Must hold: a condition of which only the reason or the message changes has not begun anew.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.storage.stored_object import Object

Condition = dict[str, Any]


def find(status: Mapping[str, Any], kind: str) -> Condition | None:
    """The condition of a type."""
    return next((one for one in status.get("conditions") or () if one.get("type") == kind), None)


def is_true(status: Mapping[str, Any], kind: str) -> bool:
    return _says(status, kind, "True")


def is_false(status: Mapping[str, Any], kind: str) -> bool:
    """Whether it is said to be false; what is not said is neither true nor false."""
    return _says(status, kind, "False")


def put(status: Object, condition: Mapping[str, Any], *, now: str) -> None:
    """Add a condition, or put it in the place of the one of its type."""
    present = status["conditions"] = list(status.get("conditions") or ())
    old = find(status, condition["type"])
    if old is None:
        present.append({**condition, "lastTransitionTime": now})
        return
    since = old.get("lastTransitionTime") if old.get("status") == condition["status"] else now
    present[present.index(old)] = {**condition, "lastTransitionTime": since}


def _says(status: Mapping[str, Any], kind: str, value: str) -> bool:
    found = find(status, kind)
    return found is not None and found.get("status") == value
