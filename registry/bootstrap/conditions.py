"""Conditions: setting one in a status, as the server's own loops do it."""

from registry import objects
from registry.rest import timestamp
from storage.stored_object import Object


def settle(obj: Object, wanted: Object, *, now: float) -> bool:
    """Put a condition in its place; whether it was not there, or otherwise.

    Its lastTransitionTime is that of the one which it replaces as long as the status stays.
    """
    conditions = objects.get(obj, "status.conditions", [])
    present: Object = next((one for one in conditions if one.get("type") == wanted["type"]), {})
    if all(present.get(name) == value for name, value in wanted.items()):
        return False
    since = present.get("lastTransitionTime") if present.get("status") == wanted["status"] else None
    others = [one for one in conditions if one is not present]
    objects.put(obj, "status.conditions", [*others, {**wanted, "lastTransitionTime": since or timestamp(now)}])
    return True
