"""Pods resize: pods/resize, which changes the CPU and memory of a running pod."""

from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.strategy import StrategyContext, keep_metadata
from aio_apiserver.registry.groups.core.pods.pods import PodStrategy
from aio_apiserver.registry.groups.core.pods.validation import resizing

_CONTAINERS = ("containers", "initContainers")
_MEMBERS = ("resources", "resizePolicy")


class ResizeStrategy(PodStrategy, frozen=True, kw_only=True):
    """An update changes resources and resize policies. Validation refuses updates that move, rename, add or remove
    containers.
    """

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        wanted, present, reported = new["spec"], old["spec"], new.get("status")
        has_as_many = all(len(wanted.get(name) or ()) == len(present.get(name) or ()) for name in _CONTAINERS)
        if has_as_many:
            new["spec"] = _resized(wanted, present)
            keep_metadata(new, old)
        super().prepare_for_update(context, new, old)
        if not has_as_many:
            new["status"] = reported or {}

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        found = self.validate_changed_metadata(context, new, old)
        return resizing.validate(new, old, found, options=self.options(context, old))


def _resized(wanted: Object, present: Object) -> Object:
    """The present spec with the resources of the request."""
    spec = dict(present)
    spec.pop("resources", None)
    if wanted.get("resources") is not None:
        spec["resources"] = wanted["resources"]
    for name in _CONTAINERS:
        if wanted.get(name):
            spec[name] = _resized_containers(wanted[name], present[name])
    return spec


def _resized_containers(wanted: Sequence[Object], present: Sequence[Object]) -> Sequence[Object]:
    pairs = list(zip(wanted, present, strict=True))
    if any(new.get("name") != old.get("name") for new, old in pairs):
        return wanted
    return [
        {name: value for name, value in old.items() if name not in _MEMBERS}
        | {name: new[name] for name in _MEMBERS if name in new}
        for new, old in pairs
    ]


STRATEGY = ResizeStrategy(has_status=True, has_generation=True)
