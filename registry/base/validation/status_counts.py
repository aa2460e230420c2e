"""Status counts: validation of replica counts in the status of workload objects. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import field, values
from aio_apiserver.registry.base.validation.field import FieldError

OF_REPLICAS = "cannot be greater than status.replicas"
OF_READY = "cannot be greater than readyReplicas"


def validate(
    status: Mapping[str, Any], counts: Sequence[str], limits: Sequence[tuple[str, str, str]] = ()
) -> list[FieldError]:
    """The errors of a status: no count is negative. A limit is a count, its upper bound, and the message beyond it."""
    errors = values.not_negative(status, "status", counts)
    for name, other, why in limits:
        value = status.get(name) or 0
        if value > (status.get(other) or 0):
            errors.append(field.invalid(f"status.{name}", value, why))
    return errors


def validate_collisions(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    """The error of a collisionCount that decreases or vanishes."""
    count, before = new.get("collisionCount"), old.get("collisionCount")
    if before is None or (count is not None and count >= before):
        return []
    return [field.invalid("status.collisionCount", count or 0, "cannot be decremented")]
