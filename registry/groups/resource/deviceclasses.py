"""DeviceClasses: named selections of devices, with configuration for their drivers."""

from typing import TYPE_CHECKING

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.timeline import before
from aio_apiserver.registry.base.validation import field, names, resource_names
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic import common_history
from aio_apiserver.registry.generic.deprecations import Deprecation
from aio_apiserver.registry.generic.error_history import since, worded
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.resource import lists

if TYPE_CHECKING:
    from aio_apiserver.registry.groups.resource import device_parts
else:
    device_parts = Deferred("aio_apiserver.registry.groups.resource.device_parts")

_EXTENDED = "spec.extendedResourceName"


class DeviceClassStrategy(Strategy, frozen=True, kw_only=True):
    """The rules of device classes. Unchanged parameters may be longer than new ones."""

    takes_long: bool = True
    """Its selectors are compiled."""

    def validate(self, context: StrategyContext, obj: Object) -> list[FieldError]:
        return super().validate(context, obj) + _validate_spec(obj, None)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate_metadata_again(new) + Strategy.validate(self, context, new)
        return errors + super().validate_update(context, new, old) + _validate_spec(new, old)


def _check_name(name: str, is_prefix: bool) -> list[str]:
    """The errors of a name. The prefix in generateName has no rules."""
    return [] if is_prefix else names.LONG_NAME.check(name)


def _validate_spec(obj: Object, old: Object | None) -> list[FieldError]:
    spec, before = obj.get("spec") or {}, (old or {}).get("spec") or {}
    errors = device_parts.validate_selectors(spec.get("selectors") or (), "spec.selectors")
    config = spec.get("config") or []
    is_stored = old is not None and config == (before.get("config") or [])
    errors += lists.validate_list(
        config,
        "spec.config",
        device_parts.MOST_CONFIGURATIONS,
        lambda one, at: device_parts.validate_configuration(one, at, is_stored=is_stored),
    )
    name = spec.get("extendedResourceName")
    if name is not None and not resource_names.is_extended(name):
        errors.append(field.invalid(_EXTENDED, name, "must be a valid extended resource name"))
    return errors


def _as_validated(error: FieldError) -> list[FieldError]:
    """The error about an extended resource's name, by what is wrong with it."""
    name = str(error.value)
    if "/" not in name:
        why = "a name must be a domain-prefixed path, such as 'example.com/my-prop'"
    elif "kubernetes.io/" in name:
        why = 'must not have "kubernetes.io/" domain'
    else:
        why = error.detail
    return [field.invalid(error.path, name, why)]


_ERRORS = (
    since((1, 37), r"spec\.extendedResourceName", _as_validated, type=field.ErrorType.INVALID),
    since(
        (1, 37),
        r"spec\.config\[\d+\]\.opaque\.driver",
        worded(common_history.DRIVER_NAME),
        detail="a lowercase RFC 1123 .*",
    ),
)

DEVICECLASSES = Kind(
    group="resource.k8s.io",
    plural="deviceclasses",
    kind="DeviceClass",
    beta_versions=("v1beta2",),
    deprecations={"v1beta2": Deprecation((1, 36), removed=(1, 39))},
    history=(before((1, 34), versions=()),),
    is_namespaced=False,
    strategy=DeviceClassStrategy(has_generation=True, check_name=_check_name),
    returns_deleted_object=True,
    gated={_EXTENDED: "DRAExtendedResource"},
    errors=_ERRORS,
)
