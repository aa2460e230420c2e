"""ResourceClaims: request devices for pods, and record the allocated ones."""

from typing import TYPE_CHECKING

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import field, internal, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.deprecations import Deprecation
from aio_apiserver.registry.generic.error_history import below, instead, showing, since, until
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.resource import gates
from aio_apiserver.registry.machinery.patch.apply.resets import WITH_METADATA
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.resource import claim_status, device_requests
else:
    claim_status = Deferred("aio_apiserver.registry.groups.resource.claim_status")
    device_requests = Deferred("aio_apiserver.registry.groups.resource.device_requests")


class ResourceClaimStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of claims. The spec is immutable."""

    takes_long: bool = True
    """Its selectors are compiled."""

    def default(self, obj: Object) -> None:
        device_requests.default(obj.get("spec") or {})

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = [*context.found, *super().validate(context, obj)]
        return errors + device_requests.validate(obj.get("spec") or {}, "spec")

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate_metadata_again(new) + Strategy.validate(self, context, new)
        errors += super().validate_update(context, new, old)
        shown, before = (internal.form("resource.ResourceClaimSpec", one.get("spec") or {}) for one in (new, old))
        if shown != before:
            errors.append(field.invalid("spec", shown, object_meta.IMMUTABLE))
        return errors


class ResourceClaimStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The strategy of the status. The status of a device is removed when the device is deallocated."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        claim_status.drop_deallocated(new.setdefault("status", {}), old.get("status") or {})

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = [*context.found, *super().validate_update(context, new, old)]
        return errors + claim_status.validate(new, old)


def _claim_state(claim: Object, _now: float) -> str:
    is_deleted = bool(claim["metadata"].get("deletionTimestamp"))
    states = ["deleted"] if is_deleted else []
    if objects.get(claim, "status.allocation") is None:
        return ",".join(states) or "pending"
    states.append("allocated")
    if objects.get(claim, "status.reservedFor"):
        states.append("reserved")
    return ",".join(states)


_COLUMNS = table_of(
    NAME,
    (
        Column(name="State", text="A summary of the current state (allocated, pending, reserved, etc.)."),
        _claim_state,
    ),
    AGE,
)

_SET_ONCE = "field cannot be modified once set"
_ERRORS = (
    until((1, 35), r"status\.reservedFor\[\d+\]", below("uid"), type=field.ErrorType.DUPLICATE),
    until(
        (1, 35),
        r"spec\.devices\.requests\[\d+\](\.firstAvailable\[\d+\])?",
        below("name"),
        type=field.ErrorType.DUPLICATE,
    ),
    since((1, 37), "spec", showing(None), detail=object_meta.IMMUTABLE),
    since(
        (1, 37),
        r"status\.allocation",
        instead(field.invalid("status.allocation", None, _SET_ONCE)),
        detail=object_meta.IMMUTABLE,
    ),
    until(
        (1, 36),
        r"spec\.devices\.constraints\[\d+\]",
        lambda error: (field.required(f"{error.path}.matchAttribute"),),
        type=field.ErrorType.REQUIRED,
    ),
)

RESOURCECLAIMS = Kind(
    group="resource.k8s.io",
    plural="resourceclaims",
    kind="ResourceClaim",
    resets={"status": WITH_METADATA},
    beta_versions=("v1beta2",),
    deprecations={"v1beta2": Deprecation((1, 36), removed=(1, 39))},
    history=(before((1, 34), versions=()),),
    strategy=ResourceClaimStrategy(has_status=True),
    status_strategy=ResourceClaimStatusStrategy(keeps_metadata=True),
    returns_deleted_object=True,
    columns=_COLUMNS,
    gated=gates.of_claims("spec"),
    errors=_ERRORS,
)
