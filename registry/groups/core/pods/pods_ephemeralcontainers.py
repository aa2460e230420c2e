"""Pods ephemeralContainers: pods/ephemeralcontainers, which adds debug containers to a running pod."""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.strategy import StrategyContext, keep_metadata
from aio_apiserver.registry.groups.core.pods.pods import PodStrategy
from aio_apiserver.registry.groups.core.pods.validation import ephemeral_containers

_MEMBER = "ephemeralContainers"


class EphemeralContainersStrategy(PodStrategy, frozen=True, kw_only=True):
    """An update changes spec.ephemeralContainers; the rest of the old spec stays."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        wanted = new["spec"].get(_MEMBER)
        new["spec"] = {name: value for name, value in old["spec"].items() if name != _MEMBER}
        if wanted:
            new["spec"][_MEMBER] = wanted
        keep_metadata(new, old)
        super().prepare_for_update(context, new, old)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        found = self.validate_changed_metadata(context, new, old)
        return ephemeral_containers.validate(new, old, found, options=self.options(context, old))


STRATEGY = EphemeralContainersStrategy(has_status=True, has_generation=True)
