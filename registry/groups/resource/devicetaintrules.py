"""DeviceTaintRules: add a taint to all devices that a selector matches."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import field, meta_conditions
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import timestamp
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.resource import device_names, device_taints
from aio_apiserver.registry.machinery.patch.apply.resets import WITH_METADATA

_MOST_CONDITIONS = 8
_TAINT, _SELECTOR, _CONDITIONS = "spec.taint", "spec.deviceSelector", "status.conditions"
_SELECTABLE = {
    "driver": device_names.validate_driver,
    "pool": device_names.validate_pool,
    "device": device_names.validate_label,
}


class DeviceTaintRuleStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of taint rules. The server notes when the taint was added, and when its effect changed."""

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        objects.get(obj, _TAINT, {}).setdefault("timeAdded", timestamp(context.now))

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        taint, present = objects.get(new, _TAINT, {}), objects.get(old, _TAINT, {})
        if taint.get("effect") != present.get("effect") and taint.get("timeAdded") == present.get("timeAdded"):
            taint["timeAdded"] = timestamp(context.now)
        super().prepare_for_update(context, new, old)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_spec(obj.get("spec") or {})

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return super().validate_update(context, new, old) + _validate_spec(new.get("spec") or {})


class DeviceTaintRuleStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status of taint rules."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        conditions = objects.get(new, _CONDITIONS) or ()
        errors = super().validate_update(context, new, old) + meta_conditions.validate(conditions, _CONDITIONS)
        if len(conditions) > _MOST_CONDITIONS:
            errors.append(field.too_many(_CONDITIONS, len(conditions), _MOST_CONDITIONS))
        return errors


def _validate_spec(spec: Mapping[str, Any]) -> list[FieldError]:
    selector = spec.get("deviceSelector") or {}
    errors = [
        error
        for name, check in _SELECTABLE.items()
        if selector.get(name) is not None
        for error in check(selector[name], f"{_SELECTOR}.{name}")
    ]
    return errors + device_taints.validate_taint(spec.get("taint") or {}, _TAINT)


DEVICETAINTRULES = Kind(
    group="resource.k8s.io",
    plural="devicetaintrules",
    kind="DeviceTaintRule",
    is_namespaced=False,
    resets={"status": WITH_METADATA},
    strategy=DeviceTaintRuleStrategy(has_status=True, has_generation=True, allows_unconditional_update=False),
    status_strategy=DeviceTaintRuleStatusStrategy(keeps_metadata=True, allows_unconditional_update=False),
    returns_deleted_object=True,
    history=(before((1, 37), versions=()),),
)
