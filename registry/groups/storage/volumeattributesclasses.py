"""VolumeAttributesClasses: the attributes of volumes that can change while a volume is in use."""

from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.deprecations import Deprecation
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.storage import parameters
from aio_apiserver.registry.machinery.printing.columns import AGE, NAME, Column, table_of, value

_FROZEN: tuple[tuple[str, Any], ...] = (("driverName", ""), ("parameters", {}))


class VolumeAttributesClassStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of these classes. Driver and parameters are immutable."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        errors = super().validate(context, obj)
        errors += parameters.validate_provisioner(obj.get("driverName", ""), "driverName")
        return errors + parameters.validate_parameters(obj.get("parameters") or {}, "parameters", is_required=True)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        errors += [
            field.forbidden(name, f"updates to {name} are forbidden.")
            for name, empty in _FROZEN
            if (new.get(name) or empty) != (old.get(name) or empty)
        ]
        return errors + self.validate_again(context, new)


_COLUMNS = table_of(
    NAME, (Column(name="DriverName", field="storage.v1.VolumeAttributesClass.driverName"), value("driverName")), AGE
)

VOLUMEATTRIBUTESCLASSES = Kind(
    group="storage.k8s.io",
    plural="volumeattributesclasses",
    kind="VolumeAttributesClass",
    beta_versions=("v1beta1",),
    deprecations={"v1beta1": Deprecation((1, 34), removed=(1, 37), is_replaced=True)},
    history=(before((1, 34), versions=()),),
    is_namespaced=False,
    short_names=("vac",),
    strategy=VolumeAttributesClassStrategy(),
    returns_deleted_object=True,
    columns=_COLUMNS,
)
