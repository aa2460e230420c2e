"""Replication controllers: they select and are labelled by what their template says, unless they say otherwise."""

from dataclasses import dataclass

from registry import objects
from registry.core import pod_spec
from registry.fields import count
from registry.kind import Kind, Scale
from registry.strategy import GarbageCollection, StatusStrategy, Strategy
from storage.stored_object import Object


@dataclass(frozen=True, kw_only=True)
class ReplicationControllerStrategy(Strategy):
    """The labels of the template are what everything else begins with."""

    def default(self, obj: Object) -> None:
        pod_spec.default_template(obj["spec"].get("template"))
        labels = objects.get(obj, "spec.template.metadata.labels")
        if not labels:
            return
        if not obj["spec"].get("selector"):
            obj["spec"]["selector"] = dict(labels)
        if not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = dict(labels)


REPLICATIONCONTROLLERS = Kind(
    group="",
    plural="replicationcontrollers",
    kind="ReplicationController",
    short_names=("rc",),
    categories=("all",),
    strategy=ReplicationControllerStrategy(
        has_status=True, has_generation=True, garbage_collection=GarbageCollection.ORPHAN_DEPENDENTS
    ),
    status_strategy=StatusStrategy(),
    scale=Scale(),
    fields={"status.replicas": count("status.replicas")},
)
