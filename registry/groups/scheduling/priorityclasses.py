"""PriorityClasses: name the priorities of pods."""

from collections.abc import Mapping

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.base.validation import field, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value

SYSTEM_CLASSES: Mapping[str, int] = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
"""The classes that Kubernetes itself needs."""

_SYSTEM_PREFIX = "system-"
_HIGHEST = 1_000_000_000
_POLICIES = ("PreemptLowerPriority", "Never")
_RESERVED = f"priority class names with '{_SYSTEM_PREFIX}' prefix are reserved for system use only. error: "


class PriorityClassStrategy(Strategy, frozen=True, kw_only=True):
    """The defaults and rules of priority classes. Value and policy are immutable, because existing pods have copies."""

    def default(self, obj: Object) -> None:
        obj.setdefault("preemptionPolicy", _POLICIES[0])

    def is_changed(self, new: Object, old: Object) -> bool:
        return False

    def check_delete(self, name: str) -> None:
        if name in SYSTEM_CLASSES:
            resource = GroupResource("scheduling.k8s.io", "priorityclasses")
            why = "this is a system priority class and cannot be deleted"
            raise errors.Forbidden(resource, name, why=why)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_value(obj) + _validate_policy(obj)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        found = super().validate_update(context, new, old)
        if (new.get("value") or 0) != (old.get("value") or 0):
            found.append(field.forbidden("value", "may not be changed in an update."))
        policy = new.get("preemptionPolicy")
        if policy != old.get("preemptionPolicy"):
            found.append(field.invalid("preemptionPolicy", policy, object_meta.IMMUTABLE))
        return found


def _validate_value(obj: Object) -> list[FieldError]:
    name, value = obj["metadata"].get("name", ""), obj.get("value") or 0
    if name.startswith(_SYSTEM_PREFIX):
        why = _check_system_class(name, value, is_default=bool(obj.get("globalDefault")))
        return [field.forbidden("metadata.name", _RESERVED + why)] if why else []
    if value > _HIGHEST:
        why = f"maximum allowed value of a user defined priority is {_HIGHEST}"
        return [field.forbidden("value", why)]
    return []


def _check_system_class(name: str, value: int, *, is_default: bool) -> str:
    if name not in SYSTEM_CLASSES:
        return f"{name} is not a known system priority class"
    if value != SYSTEM_CLASSES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_CLASSES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if is_default else ""


def _validate_policy(obj: Object) -> list[FieldError]:
    policy = obj.get("preemptionPolicy")
    if policy == "":
        return [field.required("preemptionPolicy")]
    is_wrong = policy is not None and policy not in _POLICIES
    return [field.not_supported("preemptionPolicy", policy, _POLICIES)] if is_wrong else []


_COLUMNS = table_of(
    NAME,
    (Column(name="Value", type="integer", field="scheduling.v1.PriorityClass.value"), value("value", 0)),
    (
        Column(name="Global-Default", type="boolean", field="scheduling.v1.PriorityClass.globalDefault"),
        value("globalDefault", False),
    ),
    AGE,
    (Column(name="PreemptionPolicy", field="scheduling.v1.PriorityClass.preemptionPolicy"), value("preemptionPolicy")),
)

PRIORITYCLASSES = Kind(
    group="scheduling.k8s.io",
    plural="priorityclasses",
    kind="PriorityClass",
    is_namespaced=False,
    short_names=("pc",),
    strategy=PriorityClassStrategy(has_generation=True),
    columns=_COLUMNS,
)
