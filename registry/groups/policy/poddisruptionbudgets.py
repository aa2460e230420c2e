"""PodDisruptionBudgets: how many pods of a selection have to stay during evictions."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.validation import (
    field,
    int_or_percent,
    internal,
    label_selectors,
    meta_conditions,
    names,
    values,
)
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value

_POLICIES = ("AlwaysAllow", "IfHealthyBudget")
_COUNTS = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


class PodDisruptionBudgetStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of budgets. An update may keep invalid values of the old selector."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return _validate_spec(obj.get("spec") or {}, {})

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return _validate_spec(new.get("spec") or {}, old.get("spec") or {})


def _validate_spec(spec: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    errors = []
    given = [name for name in ("minAvailable", "maxUnavailable") if spec.get(name) is not None]
    if len(given) == 2:
        shown = internal.form("policy.PodDisruptionBudgetSpec", spec)
        errors.append(field.invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set"))
    for name in given:
        errors += int_or_percent.validate(spec[name], f"spec.{name}")
        errors += int_or_percent.validate_at_most_all(spec[name], f"spec.{name}")
    allows_any = bool(label_selectors.validate(old.get("selector") or {}, ""))
    selector = spec.get("selector") or {}
    errors += label_selectors.validate(selector, "spec.selector", allows_invalid_values=allows_any)
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _POLICIES:
        errors.append(field.not_supported("spec.unhealthyPodEvictionPolicy", policy, _POLICIES))
    return errors


class PodDisruptionBudgetStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status: the numbers of pods and of allowed disruptions."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        status = new.get("status") or {}
        errors = meta_conditions.validate(status.get("conditions") or (), "status.conditions")
        return errors + values.not_negative(status, "status", _COUNTS)


_COLUMNS = table_of(
    NAME,
    (
        Column(name="Min Available", text="The minimum number of pods that must be available."),
        lambda obj, _now: str(objects.get(obj, "spec.minAvailable", "N/A")),
    ),
    (
        Column(name="Max Unavailable", text="The maximum number of pods that may be unavailable."),
        lambda obj, _now: str(objects.get(obj, "spec.maxUnavailable", "N/A")),
    ),
    (
        Column(
            name="Allowed Disruptions",
            type="integer",
            text="Calculated number of pods that may be disrupted at this time.",
        ),
        value("status.disruptionsAllowed", 0),
    ),
    AGE,
)

PODDISRUPTIONBUDGETS = Kind(
    group="policy",
    plural="poddisruptionbudgets",
    kind="PodDisruptionBudget",
    short_names=("pdb",),
    strategy=PodDisruptionBudgetStrategy(
        has_status=True,
        has_generation=True,
        allows_unconditional_update=False,
        check_name=names.is_path_segment,
        looks_at_metadata=False,
    ),
    status_strategy=PodDisruptionBudgetStatusStrategy(allows_unconditional_update=False),
    columns=_COLUMNS,
)
