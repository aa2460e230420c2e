"""Statuses: the status of FlowSchemas and priority levels, which consists of conditions."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.strategy import StatusStrategy, StrategyContext


class FlowControlStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The strategy of both statuses."""

    keeps_metadata: bool = True

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return validate_conditions(new)


def validate_conditions(obj: Object) -> list[FieldError]:
    """The errors of conditions, whose types are unique."""
    errors, path = [], "status.conditions"
    kinds = [one.get("type") or "" for one in objects.get(obj, path) or ()]
    for index, kind in enumerate(kinds):
        if kind in kinds[:index]:
            errors.append(field.duplicate(f"{path}[{index}].type", kind))
        if not kind:
            errors.append(field.required(f"{path}[{index}].type"))
    return errors
