"""StatefulSets: pods with stable names and volumes of their own."""

from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.timeline import Version, before, without
from aio_apiserver.registry.base.validation import field, internal, names, object_meta, resource_names, status_counts
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind, Scale
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.apps import statefulset_validation
from aio_apiserver.registry.groups.core.pods import pod_history, pod_spec, pod_warnings, workload_rules
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.machinery.printing import formats
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of

_ROLLING_UPDATE = "RollingUpdate"
_STEPS = "spec.updateStrategy.rollingUpdate"
_MAX_UNAVAILABLE = "maxUnavailable"
_GATE = "MaxUnavailableStatefulSet"
_CHANGEABLE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
_FROZEN = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
_CLAIM_TYPE = {"kind": PERSISTENTVOLUMECLAIMS.kind, "apiVersion": "v1"}
_KEEPS_ALL = "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"
_COUNTS = (
    "replicas",
    "readyReplicas",
    "currentReplicas",
    "updatedReplicas",
    "availableReplicas",
    "observedGeneration",
    "collisionCount",
)
_LIMITS = (
    ("readyReplicas", "replicas", status_counts.OF_REPLICAS),
    ("currentReplicas", "replicas", status_counts.OF_REPLICAS),
    ("updatedReplicas", "replicas", status_counts.OF_REPLICAS),
    ("availableReplicas", "replicas", status_counts.OF_REPLICAS),
    ("availableReplicas", "readyReplicas", "cannot be greater than status.readyReplicas"),
)


class StatefulSetStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of stateful sets. Claims are retained by default, and claim templates have their type.

    limits_unavailable: whether a rolling update has a maxUnavailable. names_frozen_fields: whether the error about a
    change names the field that may not change.
    """

    limits_unavailable: bool = True
    names_frozen_fields: bool = True

    def default(self, obj: Object) -> None:
        spec = obj["spec"]
        pod_spec.default_template(spec["template"])
        spec.setdefault("podManagementPolicy", "OrderedReady")
        spec.setdefault("replicas", 1)
        spec.setdefault("revisionHistoryLimit", 10)
        _default_update_strategy(spec.setdefault("updateStrategy", {}))
        if self.limits_unavailable:
            _default_max_unavailable(obj)
        retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
        retention.setdefault("whenDeleted", "Retain")
        retention.setdefault("whenScaled", "Retain")
        for template in spec.get("volumeClaimTemplates") or ():
            template.update(_CLAIM_TYPE)
            template.setdefault("status", {}).setdefault("phase", "Pending")

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + statefulset_validation.validate(obj["spec"], context)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        errors += statefulset_validation.validate_update(new["spec"], old["spec"], context)
        if _frozen(new["spec"]) != _frozen(old["spec"]):
            named = _name_frozen(new["spec"], old["spec"], self.version) if self.names_frozen_fields else []
            errors += named or [field.forbidden("spec", _FROZEN)]
        return errors

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        warnings = pod_warnings.template_warnings(obj["spec"]["template"], "spec.template")
        return warnings + _warnings(obj["spec"], "")

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return workload_rules.warnings_on_update(new, old) + _warnings(new["spec"], ".Spec")


def _warnings(spec: Object, suffix: str) -> list[str]:
    """The warnings for a spec. `suffix` is the part of the path that kube-apiserver adds on updates."""
    warnings = []
    for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        for member in ("requests", "limits"):
            amounts = objects.get(claim, f"spec.resources.{member}", {})
            path = f"spec.volumeClaimTemplates[{index}]{suffix}.resources.{member}"
            warnings += resource_names.warn_of_fractions(amounts, path, names=("storage",))
    return warnings + ([_KEEPS_ALL] if spec["revisionHistoryLimit"] < 0 else [])


def _frozen(spec: Object) -> Object:
    return {name: value for name, value in spec.items() if name not in _CHANGEABLE}


def _name_frozen(new: Object, old: Object, version: Version) -> list[FieldError]:
    """An error for each changed field that may not change."""
    return [
        field.invalid(f"spec.{name}", show(new.get(name), version), object_meta.IMMUTABLE)
        for name, show in _SHOWN.items()
        if new.get(name) != old.get(name)
    ]


def _claims(templates: Any, version: Version) -> list[Any]:
    return [internal.form("core.PersistentVolumeClaim", one, version) for one in templates or ()]


def _plain(value: Any, _version: Version) -> Any:
    return internal.meta(value)


_SHOWN = {
    "serviceName": _plain,
    "selector": _plain,
    "podManagementPolicy": _plain,
    "volumeClaimTemplates": _claims,
}
"""The fields that may not change, and how an error shows each."""


def _default_max_unavailable(obj: Object) -> None:
    """Set the default that stateful sets of older minors do not have."""
    strategy = obj["spec"]["updateStrategy"]
    if strategy["type"] == _ROLLING_UPDATE and strategy.get("rollingUpdate") is not None:
        strategy["rollingUpdate"].setdefault(_MAX_UNAVAILABLE, 1)


def _default_update_strategy(strategy: Object) -> None:
    """Set the default update strategy. A RollingUpdate without parameters gets no partition."""
    if "type" not in strategy:
        strategy["type"] = _ROLLING_UPDATE
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == _ROLLING_UPDATE and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)


class StatefulSetStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status of stateful sets. Its counts have to be consistent."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        status, before = new.get("status") or {}, old.get("status") or {}
        errors = status_counts.validate(status, _COUNTS, _LIMITS) + super().validate_update(context, new, old)
        return errors + status_counts.validate_collisions(status, before)


_READY = Column(name="Ready", text="Number of the pod with ready state")
_COLUMNS = table_of(
    NAME,
    (_READY, formats.ratio("status.readyReplicas", "spec.replicas")),
    AGE,
    *formats.containers("spec.template"),
)

STATEFULSETS = Kind(
    group="apps",
    plural="statefulsets",
    kind="StatefulSet",
    short_names=("sts",),
    categories=("all",),
    strategy=StatefulSetStrategy(has_status=True, has_generation=True, check_name=names.is_dns_label),
    status_strategy=StatefulSetStatusStrategy(),
    scale=Scale(),
    columns=_COLUMNS,
    errors=pod_history.ERRORS,
    decorate=_default_max_unavailable,
    gated={
        **pod_history.gated("spec.template.spec"),
        f"{_STEPS}.{_MAX_UNAVAILABLE}": _GATE,
    },
    history=(
        before((1, 37), strategy={"names_frozen_fields": False}),
        without(_GATE, strategy={"limits_unavailable": False}, decorate=None),
    ),
)
