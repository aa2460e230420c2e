"""ResourceQuotas: limits for the total resources of a namespace. This module has their rules; admission enforces
them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.validation import field, internal, object_meta, resource_names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of

TERMINATING, NOT_TERMINATING = "Terminating", "NotTerminating"
BEST_EFFORT, NOT_BEST_EFFORT = "BestEffort", "NotBestEffort"
PRIORITY_CLASS, VOLUME_ATTRIBUTES_CLASS = "PriorityClass", "VolumeAttributesClass"
CROSS_NAMESPACE_POD_AFFINITY = "CrossNamespacePodAffinity"

_PODS = frozenset({"pods"})
_COMPUTE = _PODS | {"cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}
_RESOURCES_OF_SCOPES: Mapping[str, frozenset[str]] = {
    TERMINATING: _COMPUTE,
    NOT_TERMINATING: _COMPUTE,
    BEST_EFFORT: _PODS,
    NOT_BEST_EFFORT: _COMPUTE,
    PRIORITY_CLASS: _COMPUTE,
    CROSS_NAMESPACE_POD_AFFINITY: _COMPUTE,
    VOLUME_ATTRIBUTES_CLASS: frozenset({"persistentvolumeclaims", "requests.storage"}),
}
"""The scopes, with the standard resources that each of them can limit."""
_WITHOUT_VALUES = frozenset({TERMINATING, NOT_TERMINATING, BEST_EFFORT, NOT_BEST_EFFORT, CROSS_NAMESPACE_POD_AFFINITY})
_CONTRARY = ({BEST_EFFORT, NOT_BEST_EFFORT}, {TERMINATING, NOT_TERMINATING})
_MUST_EXIST = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)
_COMPARED = ("cpu", "memory", "storage", "ephemeral-storage")
"""Resources for which the quota on requests should not exceed the quota on limits."""


class ResourceQuotaStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of quotas. Counts are whole numbers, and scopes are immutable."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = super().validate(context, obj) + _validate_spec(obj.get("spec") or {})
        return errors + _validate_status(obj.get("status") or {})

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
        errors += _validate_spec(spec)
        scopes = spec.get("scopes")
        if set(scopes or ()) != set(old_spec.get("scopes") or ()):
            errors.append(field.invalid("spec.scopes", scopes, object_meta.IMMUTABLE))
        return errors

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        hard = (obj.get("spec") or {}).get("hard") or {}
        return [warning for name in _COMPARED for warning in _compare(hard, name)]


def _compare(hard: Mapping[str, str], name: str) -> list[str]:
    limits, requests = f"limits.{name}", f"requests.{name}"
    if requests not in hard and name in {"cpu", "memory"}:
        requests = name
    if requests not in hard or limits not in hard:
        return []
    request, limit = quantity.parse(hard[requests]), quantity.parse(hard[limits])
    if request.nanos <= limit.nanos:
        return []
    return [f"ResourceQuota {requests} ({request}) should be less than {limits} ({limit})"]


class ResourceQuotaStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The enforced limits and the present usage."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return super().validate_update(context, new, old) + _validate_status(new.get("status") or {})


def _validate_spec(spec: Mapping[str, Any]) -> list[FieldError]:
    errors = _validate_amounts(spec.get("hard") or {}, "spec.hard")
    errors += _validate_scopes(spec)
    if spec.get("scopeSelector") is not None:
        errors += _validate_scope_selector(spec, "spec.scopeSelector.matchExpressions")
    return errors


def _validate_status(status: Mapping[str, Any]) -> list[FieldError]:
    return _validate_amounts(status.get("hard") or {}, "status.hard") + _validate_amounts(
        status.get("used") or {}, "status.used"
    )


def _validate_amounts(amounts: Mapping[str, str], path: str) -> list[FieldError]:
    errors = []
    for name, amount in amounts.items():
        errors += resource_names.validate_quota_name(name, f"{path}[{name}]")
        errors += resource_names.validate_amount(name, amount, f"{path}[{name}]")
    return errors


def _unfit(scope: str, hard: Mapping[str, str]) -> int:
    """The number of limited resources that the scope does not support."""
    fitting = _RESOURCES_OF_SCOPES.get(scope)
    if fitting is None:
        return 0
    return sum(resource_names.is_standard_for_quotas(name) and name not in fitting for name in hard)


def _validate_scopes(spec: Mapping[str, Any]) -> list[FieldError]:
    scopes: Sequence[str] = spec.get("scopes") or ()
    shown = list(scopes)
    errors = []
    for scope in scopes:
        if scope not in _RESOURCES_OF_SCOPES:
            errors.append(field.invalid("spec.scopes", shown, "unsupported scope"))
        unfit = field.invalid("spec.scopes", shown, "unsupported scope applied to resource")
        errors += [unfit] * _unfit(scope, spec.get("hard") or {})
    return errors + _validate_pairs(scopes, "spec.scopes", shown)


def _validate_pairs(scopes: Sequence[str], path: str, shown: Any) -> list[FieldError]:
    return [field.invalid(path, shown, "conflicting scopes") for pair in _CONTRARY if pair <= set(scopes)]


def _validate_scope_selector(spec: Mapping[str, Any], path: str) -> list[FieldError]:
    selector = spec["scopeSelector"]
    expressions = selector.get("matchExpressions") or ()
    errors = []
    for expression in expressions:
        scope, operator = expression.get("scopeName", ""), expression.get("operator", "")
        if scope not in _RESOURCES_OF_SCOPES:
            errors.append(field.invalid_typed(f"{path}.scopeName", scope, "unsupported scope"))
        shown = internal.form("core.ScopeSelector", selector)
        unfit = field.invalid(path, shown, "unsupported scope applied to resource")
        errors += [unfit] * _unfit(scope, spec.get("hard") or {})
        if scope in _WITHOUT_VALUES and operator != "Exists":
            errors.append(field.invalid_typed(f"{path}.operator", operator, _MUST_EXIST))
        errors += _validate_values(operator, expression.get("values") or (), path)
    scopes = [expression.get("scopeName", "") for expression in expressions]
    return errors + _validate_pairs(scopes, path, spec.get("scopes") or None)


def _validate_values(operator: str, values: Sequence[str], path: str) -> list[FieldError]:
    match operator:
        case "In" | "NotIn":
            detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            return [] if values else [field.required(f"{path}.values", detail)]
        case "Exists" | "DoesNotExist":
            detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            return [field.invalid(f"{path}.values", list(values), detail)] if values else []
        case _:
            return [field.invalid_typed(f"{path}.operator", operator, "not a valid selector operator")]


def _hard(is_limit: bool) -> Any:
    """A cell with usage and limit of the resources that begin with `limits.`, or of the other ones."""

    def cell(quota: Object, _now: float) -> str:
        hard, used = objects.get(quota, "status.hard", {}), objects.get(quota, "status.used", {})
        names = [name for name in sorted(hard) if name.startswith("limits.") is is_limit]
        return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)

    return cell


_COLUMNS = table_of(
    NAME,
    (
        Column(
            name="Request",
            text="Request represents a minimum amount of cpu/memory that a container may consume.",
        ),
        _hard(is_limit=False),
    ),
    (
        Column(
            name="Limit",
            text="Limits control the maximum amount of cpu/memory that a container may use independent of contention "
            "on the node.",
        ),
        _hard(is_limit=True),
    ),
    AGE,
)

RESOURCEQUOTAS = Kind(
    group="",
    plural="resourcequotas",
    kind="ResourceQuota",
    short_names=("quota",),
    strategy=ResourceQuotaStrategy(has_status=True),
    status_strategy=ResourceQuotaStatusStrategy(),
    returns_deleted_object=True,
    columns=_COLUMNS,
)
