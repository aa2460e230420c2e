"""CSIDrivers: describe CSI storage drivers to Kubernetes."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import field, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.error_history import warned_until
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Cell, Column, table_of, value
from aio_apiserver.registry.machinery.printing.formats import NONE, UNSET

_DEFAULTS: Mapping[str, Any] = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "storageCapacity": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "requiresRepublish": False,
    "seLinuxMount": False,
}
_REQUIRED = {
    "attachRequired": "attachedRequired",
    "podInfoOnMount": "podInfoOnMount",
    "storageCapacity": "storageCapacity",
}
"""The required flags, and their names in errors."""
_GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLES = ("Persistent", "Ephemeral")
_PREVENTS = "preventPodSchedulingIfMissing"
_MIN_TOKEN_SECONDS, _MAX_TOKEN_SECONDS = 600, 2**32
_MIN_UPDATE_SECONDS = 10
_TOKENS_IN_LOGS = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible "
    "logging of tokens in volume attributes"
)


class CSIDriverStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of CSI drivers.

    prevents_scheduling: whether the driver of a pod's volumes can be required on its node.
    """

    prevents_scheduling: bool = True

    def default(self, obj: Object) -> None:
        spec = obj.setdefault("spec", {})
        for name, default in _DEFAULTS.items():
            if spec.get(name) is None:
                spec[name] = default
        if self.prevents_scheduling:
            _default_scheduling(obj)
        if not spec.get("volumeLifecycleModes"):
            spec["volumeLifecycleModes"] = ["Persistent"]

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        """A new driver keeps the generation that the client sent."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_spec(obj["spec"])

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        spec, old_spec = new["spec"], old["spec"]
        errors = super().validate_update(context, new, old) + _validate_spec(spec)
        for name in ("attachRequired", "volumeLifecycleModes"):
            if spec.get(name) != old_spec.get(name):
                path = f"spec.{_REQUIRED.get(name, name)}"
                errors.append(field.invalid(path, spec.get(name), object_meta.IMMUTABLE))
        return errors

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        spec = obj["spec"]
        is_unset = bool(spec.get("tokenRequests")) and spec.get("serviceAccountTokenInSecrets") is None
        return [_TOKENS_IN_LOGS] if is_unset else []

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        is_changed = (new["spec"].get("tokenRequests") or []) != (old["spec"].get("tokenRequests") or [])
        return self.warnings_on_create(context, new) if is_changed else []


def _default_scheduling(driver: Object) -> None:
    """Set the default that drivers of older minors do not have."""
    spec = driver["spec"]
    if spec.get(_PREVENTS) is None:
        spec[_PREVENTS] = False


def _validate_spec(spec: Mapping[str, Any]) -> list[FieldError]:
    errors = [field.required(f"spec.{path}") for name, path in _REQUIRED.items() if spec.get(name) is None]
    policy, tokens = spec.get("fsGroupPolicy"), spec.get("tokenRequests") or ()
    if policy is not None and policy not in _GROUP_POLICIES:
        errors.append(field.not_supported("spec.fsGroupPolicy", policy, _GROUP_POLICIES))
    errors += _validate_tokens(tokens, "spec.tokenRequests")
    errors += [
        field.not_supported("spec.volumeLifecycleModes", mode, _LIFECYCLES)
        for mode in spec.get("volumeLifecycleModes") or ()
        if mode not in _LIFECYCLES
    ]
    if spec.get("seLinuxMount") is None:
        errors.append(field.required("spec.seLinuxMount"))
    period, in_secrets = spec.get("nodeAllocatableUpdatePeriodSeconds"), spec.get("serviceAccountTokenInSecrets")
    if period is not None and period < _MIN_UPDATE_SECONDS:
        detail = "must be greater than or equal to 10 seconds"
        errors.append(field.invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, detail))
    if in_secrets is not None and not tokens:
        detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        errors.append(field.invalid("spec.serviceAccountTokenInSecrets", in_secrets, detail))
    return errors


def _validate_tokens(tokens: Sequence[Mapping[str, Any]], path: str) -> list[FieldError]:
    errors = []
    audiences = set()
    for index, token in enumerate(tokens):
        audience, seconds = token.get("audience", ""), token.get("expirationSeconds")
        if audience in audiences:
            errors.append(field.duplicate(f"{path}[{index}].audience", audience))
            continue
        audiences.add(audience)
        place = f"{path}[{index}].expirationSeconds"
        if seconds is not None and seconds < _MIN_TOKEN_SECONDS:
            errors.append(field.invalid(place, seconds, "may not specify a duration less than 10 minutes"))
        if seconds is not None and seconds > _MAX_TOKEN_SECONDS:
            errors.append(field.invalid(place, seconds, "may not specify a duration larger than 2^32 seconds"))
    return errors


def _audiences(driver: Object, _now: float) -> str:
    requests = objects.get(driver, "spec.tokenRequests")
    return UNSET if requests is None else ",".join(one.get("audience", "") for one in requests)


def _flag(name: str, field: str, default: bool = False) -> tuple[Column, Cell]:
    column = Column(name=name, type="boolean", field=f"storage.v1.CSIDriverSpec.{field}")
    return column, value(f"spec.{field}", default)


_COLUMNS = table_of(
    NAME,
    _flag("AttachRequired", "attachRequired", default=True),
    _flag("PodInfoOnMount", "podInfoOnMount"),
    _flag("StorageCapacity", "storageCapacity"),
    (Column(name="TokenRequests", field="storage.v1.CSIDriverSpec.tokenRequests"), _audiences),
    _flag("RequiresRepublish", "requiresRepublish"),
    (
        Column(name="Modes", field="storage.v1.CSIDriverSpec.volumeLifecycleModes"),
        lambda obj, _now: ",".join(objects.get(obj, "spec.volumeLifecycleModes", ())) or NONE,
    ),
    AGE,
)

CSIDRIVERS = Kind(
    group="storage.k8s.io",
    plural="csidrivers",
    kind="CSIDriver",
    is_namespaced=False,
    strategy=CSIDriverStrategy(has_generation=True, allows_unconditional_update=False),
    returns_deleted_object=True,
    columns=_COLUMNS,
    decorate=_default_scheduling,
    gated={
        f"spec.{_PREVENTS}": "VolumeLimitScaling",
        "spec.nodeAllocatableUpdatePeriodSeconds": "MutableCSINodeAllocatableCount",
    },
    warnings=(warned_until((1, 35), re.escape(_TOKENS_IN_LOGS)),),
    history=(before((1, 37), strategy={"prevents_scheduling": False}, decorate=None),),
)
