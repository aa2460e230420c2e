"""status_conditions: Sets a condition in a status, for the loops that keep the server's own objects right."""

from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.generic.rest import timestamp
from aio_apiserver.storage.stored_object import Object


def wanted_status(obj: Object, wanted: Object, *, now: float) -> Object | None:
    """The status that has to be applied for a condition, which has changed then; None where the object has it."""
    if conditions.has(obj.get("status") or {}, wanted):
        return None
    return {"conditions": [{**wanted, "lastTransitionTime": timestamp(now)}]}


def settle(obj: Object, wanted: Object, *, now: float) -> bool:
    """Put a condition in its place; whether it was not there, or otherwise."""
    status = obj.setdefault("status", {})
    if conditions.has(status, wanted):
        return False
    conditions.put(status, wanted, now=timestamp(now))
    return True
