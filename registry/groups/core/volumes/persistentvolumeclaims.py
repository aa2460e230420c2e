"""PersistentVolumeClaims: requests of pods for storage. A bound claim can still grow and change its attributes
class.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.validation import differences, field, internal, names, object_meta, resource_names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.core.pods.validation import claims
from aio_apiserver.registry.groups.core.volumes import volume_columns
from aio_apiserver.registry.groups.core.volumes.volume_classes import CLASS_ANNOTATION

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.core.volumes import volume_specs
else:
    volume_specs = Deferred("aio_apiserver.registry.groups.core.volumes.volume_specs")

BOUND = "Bound"
_ATTRIBUTES_CLASS = "volumeAttributesClassName"
_OLD_SOURCES = frozenset({("", "PersistentVolumeClaim"), ("snapshot.storage.k8s.io", "VolumeSnapshot")})
"""Group and kind of the sources that `dataSource` accepts without `dataSourceRef`."""
_RESIZE_STATES = (
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
)
_FROZEN = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
_SIZE = "spec.resources.requests.storage"
_ZERO = quantity.parse("0")


class PersistentVolumeClaimStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of claims. `dataSource` and `dataSourceRef` are equal unless the reference names another namespace."""

    def default(self, obj: Object) -> None:
        if not objects.get(obj, "status.phase"):
            objects.put(obj, "status.phase", "Pending")

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        super().prepare_for_create(context, obj)
        obj["status"] = {"phase": "Pending"}
        _settle_sources(obj["spec"], {})

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        _settle_sources(new["spec"], old["spec"])

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + claims.validate_spec(obj["spec"], "spec")

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old) + self.validate_metadata_again(new)
        errors += object_meta.validate_builtin_finalizers(new["metadata"].get("finalizers") or ())
        errors += claims.validate_spec(new["spec"], "spec", old=old["spec"])
        errors += _validate_class_annotation(new, old) + _validate_frozen(new, old) + _validate_size(new, old)
        if new["spec"].get("volumeMode") != old["spec"].get("volumeMode"):
            errors.append(field.invalid("volumeMode", new["spec"].get("volumeMode"), object_meta.IMMUTABLE))
        return errors + _validate_attributes_class(new, old)

    def warnings_on_create(self, context: StrategyContext, obj: Object) -> list[str]:
        warnings = []
        if CLASS_ANNOTATION in (obj["metadata"].get("annotations") or {}):
            detail = 'deprecated since v1.8; use "storageClassName" attribute instead'
            warnings.append(f"metadata.annotations[{CLASS_ANNOTATION}]: {detail}")
        for member in ("requests", "limits"):
            amounts = objects.get(obj, f"spec.resources.{member}", {})
            warnings += resource_names.warn_of_fractions(amounts, f"spec.resources.{member}", names=("storage",))
        return warnings

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return self.warnings_on_create(context, new)


class PersistentVolumeClaimStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status that the volume controllers report."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        status = new.get("status") or {}
        if not new["spec"].get("accessModes"):
            errors.append(field.required("Spec.accessModes"))
        for name, amount in (status.get("capacity") or {}).items():
            errors += volume_specs.validate_amount(amount, f"status.capacity[{name}]")
        path = "status.allocatedResourceStatuses"
        for name, state in (status.get("allocatedResourceStatuses") or {}).items():
            errors += _validate_resource(name, path)
            if state not in _RESIZE_STATES:
                errors.append(field.not_supported(path, name, _RESIZE_STATES))
        path = "status.allocatedResources"
        for name, amount in (status.get("allocatedResources") or {}).items():
            here = f"{path}[{name}]"
            errors += (
                _validate_resource(name, path)
                or volume_specs.validate_amount(amount, here)
                or resource_names.validate_amount("storage", amount, here)
            )
        return errors


def _settle_sources(spec: Object, old: Mapping[str, Any]) -> None:
    """Drop sources that the server does not accept, and copy `dataSource` and `dataSourceRef` to each other."""
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    had_one = old.get("dataSource") is not None or old.get("dataSourceRef") is not None
    if reference is not None and reference.get("namespace") and old.get("dataSourceRef") is None:
        spec.pop("dataSourceRef")
        reference = None
    identity = (source.get("apiGroup") or "", source.get("kind", "")) if source is not None else None
    if identity is not None and reference is None and not had_one and identity not in _OLD_SOURCES:
        spec.pop("dataSource")
    elif source is not None and reference is None:
        spec["dataSourceRef"] = _reference(source)
    elif reference is not None and source is None and not reference.get("namespace"):
        spec["dataSource"] = _reference(reference)


def _reference(other: Mapping[str, Any]) -> Object:
    return {name: other[name] for name in ("apiGroup", "kind", "name") if other.get(name) is not None}


def _annotation(obj: Object) -> str | None:
    value: str | None = (obj["metadata"].get("annotations") or {}).get(CLASS_ANNOTATION)
    return value


def _takes_class_from_annotation(new: Object, old: Object) -> bool:
    """Whether an update moves the storage class from the old annotation to the field."""
    known, now, wanted = _annotation(old), _annotation(new), new["spec"].get("storageClassName")
    is_unset = old["spec"].get("storageClassName") is None
    return known is not None and is_unset and wanted == known and now in {None, known}


def _validate_class_annotation(new: Object, old: Object) -> list[FieldError]:
    now = _annotation(new) or ""
    if _takes_class_from_annotation(new, old) or now == (_annotation(old) or ""):
        return []
    return [field.invalid(f"metadata.annotations.{CLASS_ANNOTATION}", now, object_meta.IMMUTABLE)]


def _validate_frozen(new: Object, old: Object) -> list[FieldError]:
    """The error for a changed spec. The fields that may change are made equal before the comparison."""
    spec, before = objects.clone(new["spec"]), objects.clone(old["spec"])
    if not before.get("volumeName") and spec.get("volumeName"):
        before["volumeName"] = spec["volumeName"]
    _open_class(new, old, spec)
    if objects.get(new, "status.phase") == BOUND:
        _open_bound(spec, before)
    _level(spec, before)
    forms = [internal.form("core.PersistentVolumeClaimSpec", one) for one in (before, spec)]
    if forms[0] == forms[1]:
        return []
    return [field.forbidden("spec", f"{_FROZEN}\n{differences.unified(*forms)}")]


def _open_class(new: Object, old: Object, spec: Object) -> None:
    """Allow an update to set a missing storage class, unless the annotation names another class."""
    wanted, known = new["spec"].get("storageClassName"), _annotation(old)
    is_new = wanted is not None and old["spec"].get("storageClassName") is None
    if _takes_class_from_annotation(new, old) or (is_new and known in {None, wanted}):
        spec.pop("storageClassName")


def _open_bound(spec: Object, before: Object) -> None:
    requests = objects.get(spec, "resources.requests")
    size = objects.get(before, "resources.requests", {}).get("storage")
    if requests is not None and size is not None:
        requests["storage"] = size
    spec.pop(_ATTRIBUTES_CLASS, None)
    if before.get(_ATTRIBUTES_CLASS) is not None:
        spec[_ATTRIBUTES_CLASS] = before[_ATTRIBUTES_CLASS]


def _level(spec: Object, before: Object) -> None:
    """Give equal quantities the same text, so that the comparison sees no difference."""
    for member in ("requests", "limits"):
        amounts, known = (objects.get(one, f"resources.{member}", {}) for one in (spec, before))
        for name, text in amounts.items():
            if name in known and quantity.parse(text).nanos == quantity.parse(known[name]).nanos:
                amounts[name] = known[name]


def _validate_size(new: Object, old: Object) -> list[FieldError]:
    """The error for a smaller request. A claim may reduce its request, but not below its capacity."""
    wanted, before = (_amount(objects.get(one, "spec.resources.requests", {})) for one in (new, old))
    if wanted >= before or wanted > _amount(objects.get(old, "status.capacity", {})):
        return []
    return [field.forbidden(_SIZE, "field can not be less than status.capacity")]


def _amount(amounts: Mapping[str, str]) -> int:
    text = amounts.get("storage")
    return _ZERO.nanos if text is None else quantity.parse(text).nanos


def _validate_attributes_class(new: Object, old: Object) -> list[FieldError]:
    """The error for removing the class after the driver has applied one."""
    wanted = new["spec"].get(_ATTRIBUTES_CLASS)
    if objects.get(old, "status.currentVolumeAttributesClassName") is None:
        return []
    if wanted == old["spec"].get(_ATTRIBUTES_CLASS) or wanted:
        return []
    what = "nil" if wanted is None else "empty string"
    detail = f"update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil"
    return [field.forbidden(f"spec.{_ATTRIBUTES_CLASS}", detail)]


def _validate_resource(name: str, path: str) -> list[FieldError]:
    errors = field.invalid_each(path, name, names.check_qualified_name(name))
    if not errors and resource_names.is_native(name) and name != "storage":
        errors.append(field.not_supported(path, name, ("storage",)))
    return errors


PERSISTENTVOLUMECLAIMS = Kind(
    group="",
    plural="persistentvolumeclaims",
    kind="PersistentVolumeClaim",
    short_names=("pvc",),
    strategy=PersistentVolumeClaimStrategy(has_status=True),
    status_strategy=PersistentVolumeClaimStatusStrategy(),
    returns_deleted_object=True,
    columns=volume_columns.PERSISTENT_VOLUME_CLAIMS,
)
