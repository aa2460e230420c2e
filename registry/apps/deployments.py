"""Deployments: pods that are replaced step by step."""

from dataclasses import dataclass

from registry.apps import replicated
from registry.core import pod_spec, pod_warnings
from registry.kind import Kind, Scale
from registry.strategy import StatusStrategy, Strategy, StrategyContext
from registry.validation import field, values
from registry.validation.field import FieldError
from storage.stored_object import Object

_ROLLING_UPDATE = "RollingUpdate"
_RECREATE = "Recreate"
_NO_STEPS = "may not be specified when strategy `type` is 'Recreate'"


@dataclass(frozen=True, kw_only=True)
class DeploymentStrategy(Strategy):
    """Annotations count for the generation as the spec does: they are copied to the replica sets."""

    def default(self, obj: Object) -> None:
        spec = obj["spec"]
        pod_spec.default_template(spec["template"])
        spec.setdefault("replicas", 1)
        spec.setdefault("revisionHistoryLimit", 10)
        spec.setdefault("progressDeadlineSeconds", 600)
        strategy = spec.setdefault("strategy", {})
        if strategy.setdefault("type", _ROLLING_UPDATE) == _ROLLING_UPDATE:
            steps = strategy.setdefault("rollingUpdate", {})
            steps.setdefault("maxUnavailable", "25%")
            steps.setdefault("maxSurge", "25%")

    def is_changed(self, new: Object, old: Object) -> bool:
        annotations = [one["metadata"].get("annotations") or {} for one in (new, old)]
        return super().is_changed(new, old) or annotations[0] != annotations[1]

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_spec(obj["spec"])

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old) + _validate_spec(new["spec"])
        return errors + values.unchanged(new["spec"], old["spec"], "spec", replicated.SELECTOR)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return pod_warnings.warn_of_name(obj["metadata"]["name"], "Pod names and hostnames")


def _validate_spec(spec: Object) -> list[FieldError]:
    errors = values.not_negative(spec, "spec", ("replicas",))
    errors += replicated.validate(spec, kind="deployment", owner="ReplicaSet")
    if spec["strategy"]["type"] == _RECREATE and spec["strategy"].get("rollingUpdate") is not None:
        errors.append(field.forbidden("spec.strategy.rollingUpdate", _NO_STEPS))
    return errors + _validate_times(spec)


def _validate_times(spec: Object) -> list[FieldError]:
    names = ("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")
    errors = values.not_negative(spec, "spec", names)
    deadline = spec["progressDeadlineSeconds"]
    if deadline <= spec.get("minReadySeconds", 0):
        errors.append(field.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"))
    return errors


@dataclass(frozen=True, kw_only=True)
class DeploymentStatusStrategy(StatusStrategy):
    """Labels stay as they are, too."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        labels = old["metadata"].get("labels")
        if labels:
            new["metadata"]["labels"] = labels
        else:
            new["metadata"].pop("labels", None)


DEPLOYMENTS = Kind(
    group="apps",
    plural="deployments",
    kind="Deployment",
    short_names=("deploy",),
    categories=("all",),
    strategy=DeploymentStrategy(has_status=True, has_generation=True),
    status_strategy=DeploymentStatusStrategy(),
    scale=Scale(),
)
