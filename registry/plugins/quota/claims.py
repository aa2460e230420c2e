"""Claims: the quota evaluators of persistent volume claims and resource claims. Pure."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import amounts, objects
from aio_apiserver.registry.base.amounts import Amounts
from aio_apiserver.registry.base.golang import quantity
from aio_apiserver.registry.base.golang.quantity import Quantity
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.registry.groups.core.namespaces.resourcequotas import VOLUME_ATTRIBUTES_CLASS
from aio_apiserver.registry.groups.core.volumes.persistentvolumeclaims import PERSISTENTVOLUMECLAIMS
from aio_apiserver.registry.groups.core.volumes.volume_classes import class_of
from aio_apiserver.registry.groups.resource.resourceclaims import RESOURCECLAIMS
from aio_apiserver.registry.plugins.quota.evaluators import Scope, Unscoped, count_name, is_selected

_CLAIMS, _STORAGE = PERSISTENTVOLUMECLAIMS.plural, "requests.storage"
_OF_CLASS = ".storageclass.storage.k8s.io/"
_CLAIM_COUNT = count_name(PERSISTENTVOLUMECLAIMS.resource)
_DEVICE_CLAIM_COUNT = count_name(RESOURCECLAIMS.resource)
_OF_DEVICE_CLASS = ".deviceclass.resource.k8s.io/devices"
_MOST_DEVICES = 32
"""The number of devices that a request with allocation mode All counts as."""


class VolumeClaims:
    """The evaluator of persistent volume claims."""

    def handles(self, attributes: Attributes) -> bool:
        if attributes.subresource == "status":
            return _changes_usage(attributes.obj or {}, attributes.old or {})
        return not attributes.subresource and attributes.operation in {Operation.CREATE, Operation.UPDATE}

    def names(self, limited: Iterable[str]) -> list[str]:
        suffixes = (_OF_CLASS + _CLAIMS, _OF_CLASS + _STORAGE)
        return [name for name in limited if name in {_CLAIM_COUNT, _CLAIMS, _STORAGE} or name.endswith(suffixes)]

    def is_in_scope(self, scope: Scope, obj: Object) -> bool:
        return scope.get("scopeName") == VOLUME_ATTRIBUTES_CLASS and is_selected(scope, _attributes_classes(obj))

    def missing(self, required: Collection[str], obj: Object) -> str:
        return ""

    def usage(self, obj: Object, *, now: float) -> Amounts:
        used = {_CLAIMS: amounts.ONE, _CLAIM_COUNT: amounts.ONE}
        storage_class, storage = class_of(obj), _storage(obj)
        if storage is not None:
            used[_STORAGE] = storage
        if storage_class:
            used |= {f"{storage_class}{_OF_CLASS}{name}": used[name] for name in (_CLAIMS, _STORAGE) if name in used}
        return used


def _changes_usage(new: Object, old: Object) -> bool:
    allocated = [objects.get(one, "status.allocatedResources", {}).get("storage") for one in (new, old)]
    return allocated[0] != allocated[1] or _attributes_classes(new) != _attributes_classes(old)


def _attributes_classes(claim: Object) -> frozenset[str]:
    paths = (
        "spec.volumeAttributesClassName",
        "status.currentVolumeAttributesClassName",
        "status.modifyVolumeStatus.targetVolumeAttributesClassName",
    )
    return frozenset(name for path in paths if (name := objects.get(claim, path)))


def _storage(claim: Object) -> Quantity | None:
    """The requested or the allocated storage, whichever is more, in whole bytes."""
    wanted = objects.get(claim, "spec.resources.requests", {}).get("storage")
    if wanted is None:
        return None
    given = objects.get(claim, "status.allocatedResources", {}).get("storage")
    every = [quantity.parse(quantity.rounded_up(text, 0)) for text in (wanted, given) if text is not None]
    return max(every, key=lambda one: one.nanos)


class DeviceClaims(Unscoped):
    """The evaluator of resource claims: the most devices of each class that a claim may get."""

    def handles(self, attributes: Attributes) -> bool:
        return not attributes.subresource and attributes.operation in {Operation.CREATE, Operation.UPDATE}

    def names(self, limited: Iterable[str]) -> list[str]:
        return [name for name in limited if name == _DEVICE_CLAIM_COUNT or name.endswith(_OF_DEVICE_CLASS)]

    def usage(self, obj: Object, *, now: float) -> Amounts:
        used: dict[str, Quantity] = {_DEVICE_CLAIM_COUNT: amounts.ONE}
        for request in objects.get(obj, "spec.devices.requests", ()):
            most: dict[str, int] = {}
            for one in request.get("firstAvailable") or [request.get("exactly") or {}]:
                if name := one.get("deviceClassName"):
                    most[name] = max(most.get(name, 0), _devices(one))
            counted = {f"{name}{_OF_DEVICE_CLASS}": amounts.count(number) for name, number in most.items()}
            used = amounts.added(used, counted)
        return used


def _devices(request: Mapping[str, Any]) -> int:
    match request.get("allocationMode"):
        case "ExactCount":
            return int(request.get("count") or 0)
        case "All":
            return _MOST_DEVICES
        case _:
            return 0
