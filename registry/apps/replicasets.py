"""Replica sets: so many pods of a template."""

from dataclasses import dataclass

from registry.apps import replicated
from registry.core import pod_spec, pod_warnings
from registry.kind import Kind, Scale
from registry.strategy import StatusStrategy, Strategy, StrategyContext
from registry.validation import values
from registry.validation.field import FieldError
from storage.stored_object import Object


@dataclass(frozen=True, kw_only=True)
class ReplicaSetStrategy(Strategy):
    """One replica, unless it says otherwise."""

    def default(self, obj: Object) -> None:
        spec = obj["spec"]
        pod_spec.default_template(spec["template"])
        spec.setdefault("replicas", 1)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_spec(obj["spec"])

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old) + _validate_spec(new["spec"])
        return errors + values.unchanged(new["spec"], old["spec"], "spec", replicated.SELECTOR)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return pod_warnings.warn_of_name(obj["metadata"]["name"], "Pod names and hostnames")


def _validate_spec(spec: Object) -> list[FieldError]:
    errors = values.not_negative(spec, "spec", ("replicas", "minReadySeconds"))
    return errors + replicated.validate(spec, kind="deployment", owner="ReplicaSet")


REPLICASETS = Kind(
    group="apps",
    plural="replicasets",
    kind="ReplicaSet",
    short_names=("rs",),
    categories=("all",),
    strategy=ReplicaSetStrategy(has_status=True, has_generation=True),
    status_strategy=StatusStrategy(),
    scale=Scale(),
)
