"""ControllerRevisions: numbered states of a controller's template. The data is immutable; the number can change."""

import orjson

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import field, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE


class ControllerRevisionStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of controller revisions. The data is any JSON object."""

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
    """The JSON text of the data. Equal data has equal text, including the order of members."""
    return orjson.dumps(data)


def _controller(obj: Object, _now: float) -> str:
    owners = obj["metadata"].get("ownerReferences") or ()
    owner = next((one for one in owners if one.get("controller")), None)
    if owner is None:
        return NONE
    group = owner["apiVersion"].rpartition("/")[0]
    kind = f"{owner['kind']}.{group}" if group else owner["kind"]
    return f"{kind.lower()}/{owner['name']}"


_COLUMNS = table_of(
    NAME,
    (Column(name="Controller", text="Controller of the object"), _controller),
    (Column(name="Revision", field="apps.v1.ControllerRevision.revision"), value("revision", 0)),
    AGE,
)

CONTROLLERREVISIONS = Kind(
    group="apps",
    plural="controllerrevisions",
    kind="ControllerRevision",
    strategy=ControllerRevisionStrategy(),
    columns=_COLUMNS,
)
