"""DaemonSets: run a pod on every node.

An annotation counts the changes of the template; clients cannot set it back.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.golang import numbers
from aio_apiserver.registry.base.validation import (
    field,
    int_or_percent,
    internal,
    label_selectors,
    status_counts,
    values,
)
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.core.pods import pod_history, pod_spec, pod_warnings, workload_rules
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value

_ROLLING_UPDATE = "RollingUpdate"
_STRATEGIES = (_ROLLING_UPDATE, "OnDelete")
_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_COUNTS = (
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
)


class DaemonSetStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of daemon sets. A rolling update replaces one pod at a time by default."""

    def default(self, obj: Object) -> None:
        _count(obj, _template_generation(obj))
        spec = obj["spec"]
        pod_spec.default_template(spec["template"])
        spec.setdefault("revisionHistoryLimit", 10)
        strategy = spec.setdefault("updateStrategy", {})
        if strategy.setdefault("type", _ROLLING_UPDATE) == _ROLLING_UPDATE:
            strategy.setdefault("rollingUpdate", {}).setdefault("maxUnavailable", 1)
        if "rollingUpdate" in strategy:
            strategy["rollingUpdate"] = {"maxUnavailable": 0, "maxSurge": 0} | strategy["rollingUpdate"]

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        _count(obj, max(_template_generation(obj), 1))

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        is_changed = new["spec"]["template"] != old["spec"]["template"]
        _count(new, _template_generation(old) + is_changed)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_spec(obj["spec"], context)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        errors += workload_rules.validate_same_selector(new["spec"], old["spec"])
        return errors + _validate_spec(new["spec"], context, old["spec"])

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        return pod_warnings.template_warnings(obj["spec"]["template"], "spec.template")

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        if _template_generation(new) == _template_generation(old):
            return []
        return pod_warnings.template_warnings(new["spec"]["template"], "spec.template")


def _validate_spec(spec: Object, context: StrategyContext, old: Object | None = None) -> list[FieldError]:
    selector = spec.get("selector")
    errors = label_selectors.validate(selector or {}, "spec.selector")
    if not errors:
        errors = workload_rules.validate_selection(spec)
    if selector is not None and label_selectors.is_empty(selector):
        errors.append(
            field.invalid("spec.selector", internal.meta(selector), "empty selector is invalid for daemonset")
        )
    errors += workload_rules.validate_template(
        spec["template"], context, owner="DaemonSet", old=old["template"] if old else None
    )
    errors += values.not_negative(spec, "spec", ("minReadySeconds",))
    errors += _validate_strategy(spec["updateStrategy"], "spec.updateStrategy")
    return errors + values.not_negative(spec, "spec", ("revisionHistoryLimit",))


def _validate_strategy(strategy: Object, path: str) -> list[FieldError]:
    match strategy["type"]:
        case "OnDelete":
            return []
        case "RollingUpdate":
            return _validate_steps(strategy["rollingUpdate"], f"{path}.rollingUpdate")
        case _:
            return [field.not_supported(path, internal.form("apps.DaemonSetUpdateStrategy", strategy), _STRATEGIES)]


def _validate_steps(steps: Object, path: str) -> list[FieldError]:
    """The errors of a rolling update. Exactly one of maxUnavailable and maxSurge is not zero."""
    unavailable, surge = steps["maxUnavailable"], steps["maxSurge"]
    errors = int_or_percent.validate(unavailable, f"{path}.maxUnavailable")
    errors += int_or_percent.validate(surge, f"{path}.maxSurge")
    errors += int_or_percent.validate_at_most_all(unavailable, f"{path}.maxUnavailable")
    errors += int_or_percent.validate_at_most_all(surge, f"{path}.maxSurge")
    has_unavailable, has_surge = int_or_percent.value_of(unavailable) != 0, int_or_percent.value_of(surge) != 0
    if has_unavailable and has_surge:
        errors.append(
            int_or_percent.invalid(f"{path}.maxSurge", surge, "may not be set when maxUnavailable is non-zero")
        )
    elif not has_unavailable and not has_surge:
        errors.append(field.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0"))
    return errors


class DaemonSetStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The strategy of the status. An update of it keeps the template generation."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        _count(new, _template_generation(old))

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        status, before = new.get("status") or {}, old.get("status") or {}
        errors = super().validate_update(context, new, old) + status_counts.validate(status, _COUNTS)
        return errors + status_counts.validate_collisions(status, before)


def _template_generation(obj: Object) -> int:
    """The template generation of an object; 0 when it has none. Raises DecodeError."""
    text = (obj["metadata"].get("annotations") or {}).get(_TEMPLATE_GENERATION)
    return 0 if text is None else numbers.parse_int(text)


def _count(obj: Object, generation: int) -> None:
    metadata = obj["metadata"]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), _TEMPLATE_GENERATION: str(generation)}


_DAEMONS = "apps.v1.DaemonSetStatus"
_COLUMNS = table_of(
    NAME,
    (
        Column(name="Desired", type="integer", field=f"{_DAEMONS}.desiredNumberScheduled"),
        value("status.desiredNumberScheduled", 0),
    ),
    (
        Column(name="Current", type="integer", field=f"{_DAEMONS}.currentNumberScheduled"),
        value("status.currentNumberScheduled", 0),
    ),
    (Column(name="Ready", type="integer", field=f"{_DAEMONS}.numberReady"), value("status.numberReady", 0)),
    (
        Column(name="Up-to-date", type="integer", field=f"{_DAEMONS}.updatedNumberScheduled"),
        value("status.updatedNumberScheduled", 0),
    ),
    (
        Column(name="Available", type="integer", field=f"{_DAEMONS}.numberAvailable"),
        value("status.numberAvailable", 0),
    ),
    (
        Column(name="Node Selector", field="core.v1.PodSpec.nodeSelector"),
        formats.labels("spec.template.spec.nodeSelector"),
    ),
    AGE,
    *formats.containers("spec.template"),
    (Column(name="Selector", field="apps.v1.DaemonSetSpec.selector", priority=1), formats.selector("spec.selector")),
)

DAEMONSETS = Kind(
    group="apps",
    plural="daemonsets",
    kind="DaemonSet",
    short_names=("ds",),
    categories=("all",),
    inner_annotations=frozenset({_TEMPLATE_GENERATION}),
    strategy=DaemonSetStrategy(has_status=True, has_generation=True),
    status_strategy=DaemonSetStatusStrategy(),
    columns=_COLUMNS,
    gated=pod_history.gated("spec.template.spec"),
    errors=pod_history.ERRORS,
)
