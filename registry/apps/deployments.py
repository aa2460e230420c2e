"""Deployments: pods that are replaced step by step."""

from dataclasses import dataclass

from registry.core import pod_spec
from registry.kind import Kind, Scale
from registry.strategy import StatusStrategy, Strategy, StrategyContext
from storage.stored_object import Object

_ROLLING_UPDATE = "RollingUpdate"


@dataclass(frozen=True, kw_only=True)
class DeploymentStrategy(Strategy):
    """Annotations count for the generation as the spec does: they are copied to the replica sets."""

    def default(self, obj: Object) -> None:
        spec = obj["spec"]
        pod_spec.default_template(spec["template"])
        spec.setdefault("replicas", 1)
        spec.setdefault("revisionHistoryLimit", 10)
        spec.setdefault("progressDeadlineSeconds", 600)
        strategy = spec.setdefault("strategy", {})
        if strategy.setdefault("type", _ROLLING_UPDATE) == _ROLLING_UPDATE:
            steps = strategy.setdefault("rollingUpdate", {})
            steps.setdefault("maxUnavailable", "25%")
            steps.setdefault("maxSurge", "25%")

    def is_changed(self, new: Object, old: Object) -> bool:
        annotations = [one["metadata"].get("annotations") or {} for one in (new, old)]
        return super().is_changed(new, old) or annotations[0] != annotations[1]


@dataclass(frozen=True, kw_only=True)
class DeploymentStatusStrategy(StatusStrategy):
    """Labels stay as they are, too."""

    def prepare_for_update(self, context: StrategyContext, new: Object, old: Object) -> None:
        super().prepare_for_update(context, new, old)
        labels = old["metadata"].get("labels")
        if labels:
            new["metadata"]["labels"] = labels
        else:
            new["metadata"].pop("labels", None)


DEPLOYMENTS = Kind(
    group="apps",
    plural="deployments",
    kind="Deployment",
    short_names=("deploy",),
    categories=("all",),
    strategy=DeploymentStrategy(has_status=True, has_generation=True),
    status_strategy=DeploymentStatusStrategy(),
    scale=Scale(),
)
