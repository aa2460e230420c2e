"""Leases: record which process holds a lock, for example in leader election, and until when."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import field, names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value

_STRATEGIES = ("OldestEmulationVersion",)
_GATED = {"spec.strategy": "CoordinatedLeaderElection", "spec.preferredHolder": "CoordinatedLeaderElection"}


class LeaseStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of leases."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_spec(_spec(obj))

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        return super().validate_update(context, new, old) + _validate_spec(_spec(new))


def _spec(obj: Object) -> Object:
    spec: Object = obj.get("spec") or {}
    return spec


def _validate_spec(spec: Mapping[str, Any]) -> list[FieldError]:
    errors = []
    seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if seconds is not None and seconds <= 0:
        errors.append(field.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
    if transitions is not None and transitions < 0:
        errors.append(field.invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
    strategy = spec.get("strategy")
    if strategy is not None:
        errors += _validate_strategy(strategy)
    if spec.get("preferredHolder") and not strategy:
        errors.append(field.forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"))
    return errors


def _validate_strategy(strategy: str) -> list[FieldError]:
    path = "spec.strategy.strategy"
    if "/" not in strategy:
        return [] if strategy in _STRATEGIES else [field.not_supported(path, strategy, _STRATEGIES)]
    return field.invalid_each(path, strategy, names.check_qualified_name(strategy))


_COLUMNS = table_of(
    NAME, (Column(name="Holder", field="coordination.v1.LeaseSpec.holderIdentity"), value("spec.holderIdentity")), AGE
)

LEASES = Kind(
    group="coordination.k8s.io",
    plural="leases",
    kind="Lease",
    strategy=LeaseStrategy(allows_create_on_update=True, allows_unconditional_update=False, allows_any_finalizer=True),
    columns=_COLUMNS,
    gated=_GATED,
)
