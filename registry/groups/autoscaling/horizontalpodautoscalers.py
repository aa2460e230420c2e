"""HorizontalPodAutoscalers: adjust the number of replicas to measured metrics."""

from typing import TYPE_CHECKING

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import field, values
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.generic.error_history import instead, since, until, worded
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.autoscaling import conversion, horizontalpodautoscalers_columns

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.autoscaling import hpa_validation
else:
    hpa_validation = Deferred("aio_apiserver.registry.groups.autoscaling.hpa_validation")

_REQUIRED = ErrorType.REQUIRED
_SCALE_UP = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_SCALE_DOWN = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}


class HorizontalPodAutoscalerStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of autoscalers. Annotations of older versions become fields.

    least_replicas: the smallest minReplicas of a new autoscaler.
    """

    least_replicas: int = 0

    def default(self, obj: Object) -> None:
        conversion.drop_annotations(obj)
        spec = obj.setdefault("spec", {})
        spec.setdefault("minReplicas", 1)
        conversion.default_metrics(spec)
        behavior = spec.get("behavior")
        if behavior is not None:
            behavior["scaleUp"] = {**objects.clone(_SCALE_UP), **_without_nulls(behavior.get("scaleUp"))}
            behavior["scaleDown"] = {**objects.clone(_SCALE_DOWN), **_without_nulls(behavior.get("scaleDown"))}

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + hpa_validation.validate(obj["spec"], smallest=self.least_replicas)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return super().validate_update(context, new, old) + hpa_validation.validate(
            new["spec"], old["spec"], smallest=self.least_replicas
        )


def _without_nulls(rules: Object | None) -> Object:
    return {name: value for name, value in (rules or {}).items() if value is not None}


class HorizontalPodAutoscalerStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status of autoscalers. Numbers of replicas are not negative."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        return errors + values.not_negative(new.get("status") or {}, "status", ("currentReplicas", "desiredReplicas"))


_MOST = r"spec\.maxReplicas"
_ERRORS = (
    until((1, 36), _MOST, instead(field.invalid("spec.maxReplicas", 0, "must be greater than 0")), type=_REQUIRED),
    since((1, 37), _MOST, worded(""), type=_REQUIRED, is_last=True),
)

HORIZONTALPODAUTOSCALERS = Kind(
    group="autoscaling",
    plural="horizontalpodautoscalers",
    kind="HorizontalPodAutoscaler",
    versions=("v2", "v1"),
    short_names=("hpa",),
    categories=("all",),
    strategy=HorizontalPodAutoscalerStrategy(has_status=True, has_generation=True),
    status_strategy=HorizontalPodAutoscalerStatusStrategy(),
    conversions={"v1": conversion.V1},
    columns=horizontalpodautoscalers_columns.COLUMNS,
    errors=_ERRORS,
    gated={f"spec.behavior.{name}.tolerance": "HPAConfigurableTolerance" for name in ("scaleUp", "scaleDown")},
    history=(before((1, 37), strategy={"has_generation": False, "least_replicas": 1}),),
)
