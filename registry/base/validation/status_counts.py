"""The counts in the statuses of controllers: none is negative, and some cannot be greater than others. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import field, values
from aio_apiserver.registry.base.validation.field import FieldError

OF_REPLICAS = "cannot be greater than status.replicas"
OF_READY = "cannot be greater than readyReplicas"


def validate(
    status: Mapping[str, Any], counts: Sequence[str], limits: Sequence[tuple[str, str, str]] = ()
) -> list[FieldError]:
    """The errors of a status. A limit is a count, the count that it may reach, and what is said when it is greater."""
    errors = values.not_negative(status, "status", counts)
    for name, other, why in limits:
        value = status.get(name) or 0
        if value > (status.get(other) or 0):
            errors.append(field.invalid(f"status.{name}", value, why))
    return errors


def validate_collisions(new: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    """The count of collisions of hashes only grows, and does not vanish."""
    count, before = new.get("collisionCount"), old.get("collisionCount")
    if before is None or (count is not None and count >= before):
        return []
    return [field.invalid("status.collisionCount", count or 0, "cannot be decremented")]
