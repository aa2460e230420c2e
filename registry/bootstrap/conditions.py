"""Conditions: setting one in a status, as the server's own loops do it."""

from registry import conditions
from registry.rest import timestamp
from storage.stored_object import Object


def wanted_status(obj: Object, wanted: Object, *, now: float) -> Object | None:
    """The status that has to be applied for a condition; None where the object has it."""
    present = conditions.find(obj.get("status") or {}, wanted["type"])
    status: Object = {"conditions": [dict(present)] if present is not None else []}
    return status if settle({"status": status}, wanted, now=now) else None


def settle(obj: Object, wanted: Object, *, now: float) -> bool:
    """Put a condition in its place; whether it was not there, or otherwise."""
    status = obj.setdefault("status", {})
    present = conditions.find(status, wanted["type"]) or {}
    if all(present.get(name) == value for name, value in wanted.items()):
        return False
    conditions.put(status, wanted, now=timestamp(now))
    return True
