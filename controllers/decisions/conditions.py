"""Conditions as controllers report them: what is said again with the same reason has not happened again. Pure."""

from typing import Any

from aio_apiserver.registry.base.conditions import find, is_true
from aio_apiserver.storage.stored_object import Object

__all__ = ["find", "is_true", "put", "remove"]


def put(status: Object, kind: str, value: str, *, now: str, **members: Any) -> None:
    """Set a condition; without change of status and reason it stays as it is, without one of status its time does."""
    present = find(status, kind)
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
