"""ResourceSlices: the devices that a driver publishes for one node, some nodes or all nodes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import empties
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.fields import text
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import field, internal, object_meta
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError
from aio_apiserver.registry.generic.common_history import with_empty_name
from aio_apiserver.registry.generic.deprecations import Deprecation
from aio_apiserver.registry.generic.error_history import below, required_too, since, until
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.rest import timestamp
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.core.pods.validation import affinity
from aio_apiserver.registry.groups.resource import device_names, lists
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.resource import devices
else:
    devices = Deferred("aio_apiserver.registry.groups.resource.devices")

_MOST_DEVICES = 128
_MOST_SPECIAL_DEVICES = 64
_MOST_COUNTER_SETS = 8
_ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_VALUES = {
    "IntValue": "int",
    "BoolValue": "bool",
    "StringValue": "string",
    "VersionValue": "version",
    "IntValues": "ints",
    "BoolValues": "bools",
    "StringValues": "strings",
    "VersionValues": "versions",
}
_FLAGS = ("allNodes", "perDeviceNodeSelection")
_TRUE_OR_NOTHING = "must be either unset or set to true"


class ResourceSliceStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of slices. Driver, pool and node are immutable."""

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        _note_taints(obj.get("spec") or {}, context.now)

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        _note_taints(new.get("spec") or {}, context.now)
        super().prepare_for_update(context, new, old)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_spec(_as_sent(obj, context), None)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        return errors + _validate_spec(_as_sent(new, context), old.get("spec") or {})

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        driver = (obj.get("spec") or {}).get("driver") or ""
        what = f"driver names should be lowercase; {quote(driver)} contains uppercase characters"
        return [f"spec.driver: {what}"] if driver != driver.lower() else []

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, new)


def _note_taints(spec: Mapping[str, Any], now: float) -> None:
    """Set the time of new taints."""
    for device in spec.get("devices") or ():
        for taint in device.get("taints") or ():
            taint.setdefault("timeAdded", timestamp(now))


def _as_sent(obj: Object, context: StrategyContext) -> Mapping[str, Any]:
    return empties.within(obj.get("spec") or {}, ("spec",), context.empties)


def _validate_spec(spec: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[FieldError]:
    errors = device_names.validate_driver(spec.get("driver") or "", "spec.driver")
    errors += _validate_pool(spec.get("pool") or {})
    errors += [] if old is None else _validate_unchanged(spec, old)
    errors += _validate_place(spec)
    if spec.get("sharedCounters") is not None and spec.get("devices") is not None:
        errors.append(field.invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed"))
    return errors + _validate_devices(spec, old) + _validate_counters(spec)


def _validate_pool(pool: Mapping[str, Any]) -> list[FieldError]:
    errors = device_names.validate_pool(pool.get("name") or "", "spec.pool.name")
    count, generation = pool.get("resourceSliceCount") or 0, pool.get("generation") or 0
    if count <= 0:
        errors.append(field.invalid("spec.pool.resourceSliceCount", count, "must be greater than zero"))
    if generation < 0:
        why = "must be greater than or equal to zero"
        errors.append(field.invalid("spec.pool.generation", generation, why))
    return errors


def _validate_unchanged(spec: Mapping[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    pools = [(one.get("pool") or {}).get("name") for one in (spec, old)]
    errors = [] if pools[0] == pools[1] else [field.invalid("spec.pool.name", pools[0] or "", object_meta.IMMUTABLE)]
    if spec.get("driver") != old.get("driver"):
        errors.append(field.invalid("spec.driver", spec.get("driver") or "", object_meta.IMMUTABLE))
    if spec.get("nodeName") != old.get("nodeName"):
        errors.append(field.invalid("spec.nodeName", spec.get("nodeName"), object_meta.IMMUTABLE))
    return errors


def _validate_place(spec: Mapping[str, Any]) -> list[FieldError]:
    errors, given = [], []
    name, selector = spec.get("nodeName"), spec.get("nodeSelector")
    if name is not None and not name:
        errors.append(field.invalid("spec.nodeName", name, "must be either unset or set to a non-empty string"))
    elif name is not None:
        given.append("`nodeName`")
        errors += device_names.validate_domain(name, "spec.nodeName")
    if selector is not None:
        given.append("`nodeSelector`")
        errors += _validate_selector(selector, "spec.nodeSelector")
    for flag in _FLAGS:
        if spec.get(flag):
            given.append(f"`{flag}`")
        elif spec.get(flag) is not None:
            errors.append(field.invalid(f"spec.{flag}", False, _TRUE_OR_NOTHING))
    if not given:
        errors.append(field.required("spec", _ONE_PLACE))
    elif len(given) > 1:
        why = f"{_ONE_PLACE}, but multiple fields are set"
        errors.append(field.invalid("spec", f"{{{', '.join(given)}}}", why))
    return errors


def _validate_selector(selector: Mapping[str, Any], path: str) -> list[FieldError]:
    errors, terms = affinity.validate_node_selector(selector, path), selector.get("nodeSelectorTerms")
    if len(terms or ()) == 1:
        return errors
    shown = None if terms is None else [internal.form("core.NodeSelectorTerm", one) for one in terms]
    why = "must have exactly one node selector term"
    return [*errors, field.invalid(f"{path}.nodeSelectorTerms", shown, why)]


def _validate_devices(spec: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[FieldError]:
    every = spec.get("devices") or ()
    before = {one.get("name"): one for one in (old or {}).get("devices") or ()}
    is_special = any(one.get("taints") or one.get("consumesCounters") for one in every)
    has_own_place = bool(spec.get("perDeviceNodeSelection"))

    def check(device: Mapping[str, Any], path: str) -> list[FieldError]:
        return devices.validate(device, path, old=before.get(device.get("name")), has_own_place=has_own_place)

    limit = _MOST_SPECIAL_DEVICES if is_special else _MOST_DEVICES
    return lists.validate_set(every, "spec.devices", limit, check, key=lambda one: one.get("name") or "")


def _validate_counters(spec: Mapping[str, Any]) -> list[FieldError]:
    return lists.validate_set(
        spec.get("sharedCounters") or (),
        "spec.sharedCounters",
        _MOST_COUNTER_SETS,
        lambda one, at: devices.validate_counters(one, at, name="name"),
        key=lambda one: one.get("name") or "",
    )


def _without_lists(error: FieldError) -> list[FieldError]:
    """The error about an attribute as it was before attributes could be lists."""
    value = error.value
    if isinstance(value, dict):
        value = {name: one for name, one in value.items() if not name.endswith("Values")}
    return [replace(error, value=value)]


def _as_union(error: FieldError) -> list[FieldError]:
    """The error about an attribute with no value, or with several."""
    listed = ", ".join(f"`{name}`" for name in _VALUES.values())
    if not isinstance(error.value, dict):
        return [field.invalid(error.path, "", f"must specify one of: {listed}")]
    given = ", ".join(_VALUES[name] for name, one in error.value.items() if one is not None)
    return [field.invalid(error.path, f"{{{given}}}", f"must specify exactly one of: {listed}")]


_COLUMNS = table_of(
    NAME,
    (Column(name="Node", field="resource.v1.ResourceSliceSpec.nodeName"), value("spec.nodeName")),
    (Column(name="Driver", field="resource.v1.ResourceSliceSpec.driver"), value("spec.driver")),
    (Column(name="Pool", field="resource.v1.ResourcePool.name"), value("spec.pool.name")),
    AGE,
)

_GATED = {
    "spec.sharedCounters": "DRAPartitionableDevices",
    "spec.perDeviceNodeSelection": "DRAPartitionableDevices",
    "spec.devices[].consumesCounters": "DRAPartitionableDevices",
    "spec.devices[].nodeName": "DRAPartitionableDevices",
    "spec.devices[].nodeSelector": "DRAPartitionableDevices",
    "spec.devices[].allNodes": "DRAPartitionableDevices",
    "spec.devices[].taints": "DRADeviceTaints",
    "spec.devices[].allowMultipleAllocations": "DRAConsumableCapacity",
    "spec.devices[].capacity{}.requestPolicy": "DRAConsumableCapacity",
    "spec.devices[].bindsToNode": "DRADeviceBindingConditions",
    "spec.devices[].bindingConditions": "DRADeviceBindingConditions",
    "spec.devices[].bindingFailureConditions": "DRADeviceBindingConditions",
    "spec.partitionTypeAttribute": "DRAPartitionableDevicesType",
    "spec.skipNodeOperations": "DRAOptionalNodeOperations",
    "spec.devices[].nodeAllocatableResourceMappings": "DRANodeAllocatableResources",
    **{f"spec.devices[].attributes{{}}.{name}": "DRAListTypeAttributes" for name in devices.LIST_VALUES},
    "spec.devices[].consumesCounters[].compatibilityGroups": "DRADeviceCompatibilityGroups",
}

_ERRORS = (
    until((1, 35), r"spec\.devices\[\d+\]", below("name"), type=ErrorType.DUPLICATE),
    until((1, 35), r"spec\.driver", with_empty_name, type=ErrorType.REQUIRED),
    until(
        (1, 35), r"spec\.devices\[\d+\]\.attributes\[.*\]", required_too, detail="exactly one value must.*", value=""
    ),
    since(
        (1, 37),
        r"spec\.devices\[\d+\]\.attributes\[.*\]",
        _as_union,
        detail="exactly one value must be specified",
    ),
    until((1, 36), r"spec\.devices\[\d+\]\.attributes\[.*\]", _without_lists, type=ErrorType.INVALID),
    until(
        (1, 36),
        r"spec\.devices\[\d+\]\.attributes",
        lambda error: (replace(error, path=f"{error.path}[{error.value}]"),),
    ),
)

_FIELDS = {"spec.nodeName": text("spec.nodeName"), "spec.driver": text("spec.driver")}

RESOURCESLICES = Kind(
    group="resource.k8s.io",
    plural="resourceslices",
    kind="ResourceSlice",
    beta_versions=("v1beta2",),
    deprecations={"v1beta2": Deprecation((1, 36), removed=(1, 39))},
    is_namespaced=False,
    strategy=ResourceSliceStrategy(has_generation=True, counts_closed_fields=True),
    returns_deleted_object=True,
    fields={**_FIELDS, "spec.pool.name": text("spec.pool.name")},
    unknown_field_message="field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {name}",
    triggers=("spec.nodeName",),
    columns=_COLUMNS,
    gated=_GATED,
    history=(before((1, 37), fields=_FIELDS), before((1, 34), versions=())),
    errors=_ERRORS,
)
