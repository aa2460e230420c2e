"""CSINodes: the CSI drivers that run on a node."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import field, internal, names, object_meta
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import StatusStrategy, Strategy, StrategyContext
from aio_apiserver.registry.groups.core.pods.validation import volume_sources
from aio_apiserver.registry.machinery.patch.apply.resets import WITH_METADATA
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, count, table_of

_PATH = "spec.drivers"
_MAX_NODE_ID = 256


class CSINodeStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of CSI nodes. Drivers may come and go.

    mutable: the members of a driver that stays which can change.
    """

    mutable: Collection[str] = ("allocatable",)

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = super().validate(context, obj)
        seen: set[str] = set()
        for index, driver in enumerate(_drivers(obj)):
            errors += _validate_driver(driver, f"{_PATH}[{index}]", seen)
        return errors

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate_again(context, new)
        for present in _drivers(old):
            for driver in _drivers(new):
                is_same = present.get("name") == driver.get("name")
                if is_same and self._fixed(present) != self._fixed(driver):
                    shown = internal.form("storage.CSINodeDriver", driver | dict.fromkeys(self.mutable))
                    errors.append(field.invalid(_PATH, shown, object_meta.IMMUTABLE))
        return errors

    def _fixed(self, driver: Object) -> Object:
        return {name: value for name, value in driver.items() if name not in self.mutable and value}


def _drivers(obj: Object) -> Sequence[Object]:
    drivers: Sequence[Object] = (obj.get("spec") or {}).get("drivers") or ()
    return drivers


def _validate_driver(driver: Mapping[str, Any], path: str, seen: set[str]) -> list[FieldError]:
    name, node = driver.get("name", ""), driver.get("nodeID", "")
    errors = volume_sources.validate_csi_driver(name, f"{path}.name")
    if not node:
        errors.append(field.required(f"{path}.nodeID"))
    if len(node.encode()) > _MAX_NODE_ID:
        errors.append(field.invalid(f"{path}.nodeID", node, f"must be {_MAX_NODE_ID} characters or less"))
    count = (driver.get("allocatable") or {}).get("count")
    if count is not None and count < 0:
        errors.append(field.invalid(f"{path}.allocatable.count", count, "must be greater than or equal to 0"))
    if name in seen:
        errors.append(field.duplicate(f"{path}.name", name))
    seen.add(name)
    return errors + _validate_keys(driver.get("topologyKeys") or (), path)


def _validate_keys(keys: Sequence[str], path: str) -> list[FieldError]:
    errors = []
    for index, key in enumerate(keys):
        if not key:
            errors.append(field.required(path))
        if key in keys[:index]:
            errors.append(field.duplicate(path, key))
        errors += field.invalid_each(path, key, names.check_qualified_name(key))
    return errors


_COLUMNS = table_of(
    NAME,
    (
        Column(
            name="Drivers",
            type="integer",
            text="Drivers indicates the number of CSI drivers registered on the node",
        ),
        count("spec.drivers"),
    ),
    AGE,
)

CSINODES = Kind(
    group="storage.k8s.io",
    plural="csinodes",
    kind="CSINode",
    is_namespaced=False,
    strategy=CSINodeStrategy(allows_unconditional_update=False),
    returns_deleted_object=True,
    columns=_COLUMNS,
    resets={"status": WITH_METADATA},
    status_strategy=StatusStrategy(keeps_metadata=True, allows_unconditional_update=False),
    gated={"status.storageHealth": "CSIVolumeHealth"},
    history=(before((1, 35), strategy={"mutable": ()}), before((1, 37), status_strategy=None, resets={})),
)
