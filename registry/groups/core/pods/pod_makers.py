"""Pod makers: the base strategy of kinds with a pod template, which drops fields of disabled features from it."""

from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.groups.core.pods import pod_spec


class PodMakerStrategy(Strategy, frozen=True, kw_only=True):
    """The base strategy. managedFields still name the dropped fields, because a manager's fields come from the
    request.

    closed_sources: the sources of projected volumes whose feature gates are closed.
    """

    closed_sources: Sequence[str] = ()

    def template(self, obj: Object) -> Object | None:
        """The pod template; None where the kind allows a missing template."""
        found: Object | None = obj["spec"].get("template")
        return found

    def prepare_for_create(self, context: StrategyContext, obj: Object) -> None:
        self._drop_disabled(obj)
        super().prepare_for_create(context, obj)

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        self._drop_disabled(new)
        super().prepare_for_update(context, new, old)

    def _drop_disabled(self, obj: Object) -> None:
        template = self.template(obj)
        if template is not None:
            pod_spec.drop_disabled(template["spec"], self.closed_sources)
