"""Pods status: pods/status, with which the kubelet reports the state of a pod."""

from collections import defaultdict
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.validation import addresses
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.strategy import StatusStrategy, StrategyContext
from aio_apiserver.registry.groups.core.pods.validation import allowances, status

_OF_OTHERS = ("ownerReferences", "deletionTimestamp")
"""Metadata that an update of the status cannot change."""


class PodStatusStrategy(StatusStrategy, frozen=True, kw_only=True):
    """The strategy of the status. qosClass and observedGeneration stay when the kubelet leaves them out."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        for name in _OF_OTHERS:
            if name in old["metadata"]:
                new["metadata"][name] = old["metadata"][name]
            else:
                new["metadata"].pop(name, None)
        new_status, old_status = new.setdefault("status", {}), old.get("status") or {}
        for name in ("qosClass", "observedGeneration"):
            if not new_status.get(name) and old_status.get(name):
                new_status[name] = old_status[name]
        _keep_observed_generations(new_status, old_status)

    def validate_update(self, context: StrategyContext, new: Object, old: Object) -> list[FieldError]:
        errors = super().validate_update(context, new, old)
        options = allowances.options_for(old["spec"], old["metadata"], is_pod=True, context=context)
        return errors + status.validate(new, old, options=options)

    def warnings_on_update(self, context: StrategyContext, new: Object, old: Object) -> list[str]:
        return [
            warning
            for member in ("podIPs", "hostIPs")
            for index, one in enumerate(new["status"].get(member) or ())
            for warning in addresses.warn(one.get("ip", ""), f"status.{member}[{index}].ip")
        ]


def _keep_observed_generations(new: Object, old: Object) -> None:
    """A condition without observedGeneration keeps the value of the old condition of its type."""
    seen: defaultdict[str, list[Any]] = defaultdict(list)
    for condition in old.get("conditions") or ():
        seen[condition.get("type", "")].append(condition.get("observedGeneration"))
    for condition in new.get("conditions") or ():
        before = seen[condition.get("type", "")]
        generation = before.pop(0) if before else None
        if generation and not condition.get("observedGeneration"):
            condition["observedGeneration"] = generation
