"""Controller revisions: what a controller's template was, under a number. The data never change, the number may."""

import orjson

from aio_apiserver.registry.base.validation import field, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.storage.stored_object import Object


class ControllerRevisionStrategy(Strategy, frozen=True, kw_only=True):
    """Any map will do for data."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return self._validate(context, obj) + _validate_data(obj.get("data"))

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        errors += object_meta.validate(new["metadata"], is_namespaced=True, check_name=self.check_name)
        errors += self._validate(context, new)
        data = new.get("data")
        if _text(data) != _text(old.get("data")):
            errors.append(field.invalid("data", data, object_meta.IMMUTABLE))
        return errors

    def _validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = super().validate(context, obj)
        if obj.get("revision", 0) < 0:
            errors.append(field.invalid("revision", obj["revision"], "must be greater than or equal to 0"))
        return errors


def _validate_data(data: object) -> list[FieldError]:
    if data is None:
        return [field.required("data", "data is mandatory")]
    return [] if isinstance(data, dict) else [field.required("data", "data must be a valid JSON object")]


def _text(data: object) -> bytes:
    """Data are equal when their text is: the order of members counts."""
    return orjson.dumps(data)


CONTROLLERREVISIONS = Kind(
    group="apps",
    plural="controllerrevisions",
    kind="ControllerRevision",
    strategy=ControllerRevisionStrategy(),
)
