"""status_conditions: sets a condition in a status, for the loops that keep the server's own objects right."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import conditions
from aio_apiserver.registry.generic.rest import timestamp


def wanted_status(obj: Object, wanted: Object, *, now: float) -> Object | None:
    """The status to apply for a condition that changes now; None where the object has it."""
    if conditions.has(obj.get("status") or {}, wanted):
        return None
    return {"conditions": [{**wanted, "lastTransitionTime": timestamp(now)}]}


def settle(obj: Object, wanted: Object, *, now: float) -> bool:
    """Set a condition in the status; returns whether it has changed."""
    status = obj.setdefault("status", {})
    if conditions.has(status, wanted):
        return False
    conditions.put(status, wanted, now=timestamp(now))
    return True
