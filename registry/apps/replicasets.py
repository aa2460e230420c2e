"""Replica sets: so many pods of a template."""

from dataclasses import dataclass

from registry.core import pod_spec
from registry.kind import Kind, Scale
from registry.strategy import StatusStrategy, Strategy
from storage.stored_object import Object


@dataclass(frozen=True, kw_only=True)
class ReplicaSetStrategy(Strategy):
    """One replica, unless it says otherwise."""

    def default(self, obj: Object) -> None:
        spec = obj["spec"]
        pod_spec.default_template(spec["template"])
        spec.setdefault("replicas", 1)


REPLICASETS = Kind(
    group="apps",
    plural="replicasets",
    kind="ReplicaSet",
    short_names=("rs",),
    categories=("all",),
    strategy=ReplicaSetStrategy(has_status=True, has_generation=True),
    status_strategy=StatusStrategy(),
    scale=Scale(),
)
