"""Conditions: setting one in a status, as the server's own loops do it."""

from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.generic.rest import timestamp
from aio_apiserver.storage.stored_object import Object


def wanted_status(obj: Object, wanted: Object, *, now: float) -> Object | None:
    """The status that has to be applied for a condition, which has changed then; None where the object has it."""
    if _has(obj.get("status") or {}, wanted):
        return None
    return {"conditions": [{**wanted, "lastTransitionTime": timestamp(now)}]}


def settle(obj: Object, wanted: Object, *, now: float) -> bool:
    """Put a condition in its place; whether it was not there, or otherwise."""
    status = obj.setdefault("status", {})
    if _has(status, wanted):
        return False
    conditions.put(status, wanted, now=timestamp(now))
    return True


def _has(status: Object, wanted: Object) -> bool:
    present = conditions.find(status, wanted["type"]) or {}
    return all(present.get(name) == value for name, value in wanted.items())
