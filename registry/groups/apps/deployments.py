"""Deployments: replace pods step by step through ReplicaSets."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.golang import numbers
from aio_apiserver.registry.base.validation import field, int_or_percent, internal, status_counts, values
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind, Scale
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.core.pods import pod_history, pod_spec, workload_rules
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value
from aio_apiserver.registry.machinery.schema import DecodeError
from aio_apiserver.registry.machinery.selectors.texts import selector_text

_ROLLING_UPDATE = "RollingUpdate"
_RECREATE = "Recreate"
_ROLLBACK = "deprecated.deployment.rollback.to"
"""The annotation for a rollback, which was a field in older versions."""
_NO_STEPS = "may not be specified when strategy `type` is 'Recreate'"
_COUNTS = (
    "observedGeneration",
    "replicas",
    "updatedReplicas",
    "readyReplicas",
    "availableReplicas",
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
)
_LIMITS = (
    ("updatedReplicas", "replicas", status_counts.OF_REPLICAS),
    ("readyReplicas", "replicas", status_counts.OF_REPLICAS),
    ("availableReplicas", "replicas", status_counts.OF_REPLICAS),
    ("availableReplicas", "readyReplicas", status_counts.OF_READY),
)


class DeploymentStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of deployments. Annotations count for the generation, because ReplicaSets copy them."""

    def default(self, obj: Object) -> None:
        _settle_rollback(obj)
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
        return super().validate(context, obj) + _validate_spec(obj, context)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old) + _validate_spec(new, context, old["spec"])
        return errors + workload_rules.validate_same_selector(new["spec"], old["spec"])

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return workload_rules.warnings_on_create(obj)

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return workload_rules.warnings_on_update(new, old)


def _settle_rollback(obj: Object) -> None:
    """Bring the rollback annotation into canonical form. Raises DecodeError."""
    annotations = obj["metadata"].get("annotations") or {}
    text = annotations.get(_ROLLBACK)
    if text:
        try:
            annotations[_ROLLBACK] = str(numbers.parse_int(text))
        except DecodeError as exc:
            raise DecodeError(f"failed to parse annotation[{_ROLLBACK}]={text} as int64: {exc.message}") from exc
    elif text is not None:
        del annotations[_ROLLBACK]


def _validate_spec(obj: Object, context: StrategyContext, old: Object | None = None) -> list[FieldError]:
    spec = obj["spec"]
    errors = values.not_negative(spec, "spec", ("replicas",))
    errors += workload_rules.validate(spec, context, kind="deployment", owner="ReplicaSet", old=old)
    errors += _validate_strategy(spec["strategy"], "spec.strategy")
    revision = int((obj["metadata"].get("annotations") or {}).get(_ROLLBACK, 0))
    return errors + _validate_times(spec, revision)


def _validate_strategy(strategy: Object, path: str) -> list[FieldError]:
    match strategy["type"]:
        case "Recreate":
            is_stepwise = strategy.get("rollingUpdate") is not None
            return [field.forbidden(f"{path}.rollingUpdate", _NO_STEPS)] if is_stepwise else []
        case "RollingUpdate":
            return _validate_steps(strategy["rollingUpdate"], f"{path}.rollingUpdate")
        case _:
            shown = internal.form("apps.DeploymentStrategy", strategy)
            return [field.not_supported(path, shown, (_RECREATE, _ROLLING_UPDATE))]


def _validate_steps(steps: Object, path: str) -> list[FieldError]:
    unavailable, surge = steps["maxUnavailable"], steps["maxSurge"]
    errors = int_or_percent.validate(unavailable, f"{path}.maxUnavailable")
    errors += int_or_percent.validate(surge, f"{path}.maxSurge")
    if int_or_percent.value_of(unavailable) == 0 and int_or_percent.value_of(surge) == 0:
        errors.append(
            int_or_percent.invalid(f"{path}.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
        )
    return errors + int_or_percent.validate_at_most_all(unavailable, f"{path}.maxUnavailable")


def _validate_times(spec: Object, revision: int) -> list[FieldError]:
    errors = values.not_negative(spec, "spec", ("minReadySeconds", "revisionHistoryLimit"))
    errors += values.not_negative({"version": revision}, "spec.rollback", ("version",))
    errors += values.not_negative(spec, "spec", ("progressDeadlineSeconds",))
    deadline = spec["progressDeadlineSeconds"]
    if deadline <= spec.get("minReadySeconds", 0):
        errors.append(field.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"))
    return errors


def _keep_rollback(new: Object, old: Object) -> None:
    revision = (old.get("annotations") or {}).get(_ROLLBACK)
    kept = {name: value for name, value in (new.get("annotations") or {}).items() if name != _ROLLBACK}
    if revision is not None:
        kept[_ROLLBACK] = revision
    if kept:
        new["annotations"] = kept
    else:
        new.pop("annotations", None)


class DeploymentStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The strategy of the status. An update of it keeps labels and the rollback annotation."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        labels = old["metadata"].get("labels")
        if labels:
            new["metadata"]["labels"] = labels
        else:
            new["metadata"].pop("labels", None)
        _keep_rollback(new["metadata"], old["metadata"])

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        status, before = new.get("status") or {}, old.get("status") or {}
        errors = super().validate_update(context, new, old) + status_counts.validate(status, _COUNTS, _LIMITS)
        return errors + status_counts.validate_collisions(status, before)


_READY = Column(name="Ready", text="Number of the pod with ready state")
_COLUMNS = table_of(
    NAME,
    (_READY, formats.ratio("status.readyReplicas", "spec.replicas")),
    (Column(name="Up-to-date", field="apps.v1.DeploymentStatus.updatedReplicas"), value("status.updatedReplicas", 0)),
    (
        Column(name="Available", field="apps.v1.DeploymentStatus.availableReplicas"),
        value("status.availableReplicas", 0),
    ),
    AGE,
    *formats.containers("spec.template"),
    (
        Column(name="Selector", field="apps.v1.DeploymentSpec.selector", priority=1),
        lambda obj, _now: selector_text(objects.get(obj, "spec.selector")),
    ),
)

DEPLOYMENTS = Kind(
    group="apps",
    plural="deployments",
    kind="Deployment",
    resets={"status": ("spec", "metadata.labels")},
    short_names=("deploy",),
    categories=("all",),
    inner_annotations=frozenset({_ROLLBACK}),
    strategy=DeploymentStrategy(has_status=True, has_generation=True),
    status_strategy=DeploymentStatusStrategy(),
    scale=Scale(),
    columns=_COLUMNS,
    gated={
        **pod_history.gated("spec.template.spec"),
        "status.terminatingReplicas": "DeploymentReplicaSetTerminatingReplicas",
    },
    errors=pod_history.ERRORS,
)
