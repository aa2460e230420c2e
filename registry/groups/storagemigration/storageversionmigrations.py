"""StorageVersionMigrations: ask for all objects of a resource to be written again in its present storage version."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.base.conditions import is_true
from aio_apiserver.registry.base.validation import field, meta_conditions, names, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.machinery.patch.apply.resets import WITH_METADATA
from aio_apiserver.registry.machinery.printing.columns import NAME, Column, table_of

_RESOURCE, _GROUP = "spec.resource.resource", "spec.resource.group"
_VERSION, _CONDITIONS = "status.resourceVersion", "status.conditions"
_SUCCEEDED, _FAILED = "Succeeded", "Failed"
_STATES = ("Running", _FAILED, _SUCCEEDED)
_BOTH = "Both success and failed conditions cannot be true at the same time"
_LASTING = {
    _SUCCEEDED: "Success condition cannot be set to false once it is true",
    _FAILED: "Failed condition cannot be set to false once it is true",
}


class MigrationStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of migrations, whose spec is immutable."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_resource(objects.get(obj, "spec.resource", {}))

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate_again(context, new) + super().validate_update(context, new, old)
        if new.get("spec") != old.get("spec"):
            errors.append(field.invalid("spec", None, object_meta.IMMUTABLE))
        return errors


class MigrationStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The status of migrations: an end is final, and so is the resource version."""

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        status, before = new.get("status") or {}, old.get("status") or {}
        errors += meta_conditions.validate(status.get("conditions") or (), _CONDITIONS)
        if before.get("resourceVersion") and status.get("resourceVersion") != before["resourceVersion"]:
            errors.append(field.invalid(_VERSION, status.get("resourceVersion") or "", object_meta.IMMUTABLE))
        shown = status.get("conditions") or None
        if is_true(status, _SUCCEEDED) and is_true(status, _FAILED):
            errors.append(field.invalid(_CONDITIONS, shown, _BOTH))
        return errors + [
            field.invalid(_CONDITIONS, shown, why)
            for state, why in _LASTING.items()
            if is_true(before, state) and not is_true(status, state)
        ]


def _validate_resource(resource: Mapping[str, Any]) -> list[FieldError]:
    name, group = resource.get("resource") or "", resource.get("group") or ""
    if not name:
        errors = [field.required(_RESOURCE, "resource is required to be set")]
    else:
        errors = _joined(_RESOURCE, name, names.DNS1035_LABEL.check(name))
    return errors + (_joined(_GROUP, group, names.DNS1123_SUBDOMAIN.check(group)) if group else [])


def _joined(path: str, value: str, messages: list[str]) -> list[FieldError]:
    return [field.invalid(path, value, ",".join(messages))] if messages else []


def _resource(migration: Object, _now: float) -> str:
    resource = objects.get(migration, "spec.resource", {})
    return ".".join(filter(None, (resource.get("resource") or "", resource.get("group") or "")))


def _status(migration: Object, _now: float) -> str:
    found = [state for state in _STATES if is_true(migration.get("status") or {}, state)]
    return found[-1] if found else "Unknown"


_COLUMNS = table_of(
    NAME,
    (Column(name="Resource", text="GroupResource to migrate"), _resource),
    (Column(name="Status", text="Status of the migration"), _status),
)

STORAGEVERSIONMIGRATIONS = Kind(
    group="storagemigration.k8s.io",
    plural="storageversionmigrations",
    kind="StorageVersionMigration",
    is_namespaced=False,
    resets={"status": WITH_METADATA},
    strategy=MigrationStrategy(has_status=True, allows_unconditional_update=False),
    status_strategy=MigrationStatusStrategy(keeps_metadata=True, allows_unconditional_update=False),
    returns_deleted_object=True,
    columns=_COLUMNS,
)
