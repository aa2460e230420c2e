"""Daemon sets: a pod on every node. An annotation counts the changes of their template; clients cannot set it back."""

from dataclasses import dataclass

from registry.apps import replicated
from registry.core import pod_spec
from registry.kind import Kind
from registry.strategy import StatusStrategy, Strategy, StrategyContext
from registry.validation import field, label_selectors, values
from registry.validation.field import FieldError
from storage.stored_object import Object

_ROLLING_UPDATE = "RollingUpdate"
_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


@dataclass(frozen=True, kw_only=True)
class DaemonSetStrategy(Strategy):
    """One pod at a time is replaced, unless it says otherwise."""

    def default(self, obj: Object) -> None:
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
        return super().validate(context, obj) + _validate_spec(obj["spec"])

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        errors += values.unchanged(new["spec"], old["spec"], "spec", replicated.SELECTOR)
        return errors + _validate_spec(new["spec"])


def _validate_spec(spec: Object) -> list[FieldError]:
    selector = spec.get("selector")
    errors = label_selectors.validate(selector or {}, "spec.selector")
    if not errors:
        errors = replicated.validate_selection(spec)
    if selector is not None and label_selectors.is_empty(selector):
        errors.append(field.invalid("spec.selector", selector, "empty selector is invalid for daemonset"))
    errors += replicated.validate_template(spec["template"], owner="DaemonSet")
    return errors + values.not_negative(spec, "spec", ("minReadySeconds", "revisionHistoryLimit"))


@dataclass(frozen=True, kw_only=True)
class DaemonSetStatusStrategy(StatusStrategy):
    """The count belongs to the spec."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        _count(new, _template_generation(old))


def _template_generation(obj: Object) -> int:
    text = (obj["metadata"].get("annotations") or {}).get(_TEMPLATE_GENERATION, "")
    return int(text) if text.isascii() and text.isdigit() else 0


def _count(obj: Object, generation: int) -> None:
    metadata = obj["metadata"]
    metadata["annotations"] = {**(metadata.get("annotations") or {}), _TEMPLATE_GENERATION: str(generation)}


DAEMONSETS = Kind(
    group="apps",
    plural="daemonsets",
    kind="DaemonSet",
    short_names=("ds",),
    categories=("all",),
    strategy=DaemonSetStrategy(has_status=True, has_generation=True),
    status_strategy=DaemonSetStatusStrategy(),
)
