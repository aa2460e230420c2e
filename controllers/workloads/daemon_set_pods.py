"""Daemon set pods: which nodes need a pod of a DaemonSet, its rolling update and its status.

Pure.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import node_placement as scheduling
from aio_apiserver.controllers.runtime import pods
from aio_apiserver.controllers.workloads import revisions
from aio_apiserver.controllers.workloads.rollouts import scaled
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.groups.core.pods.pod_conditions import is_ready

_TOLERATED = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_OF_HOST_NETWORK = ("node.kubernetes.io/network-unavailable", "NoSchedule")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pod_of(owner: Object, node: str, revision: str) -> Object:
    """The pod for a node."""
    pod = pods.from_template(objects.clone(owner["spec"]["template"]), owner, "apps/v1", "DaemonSet")
    pod["metadata"]["labels"] = {**pod["metadata"].get("labels", {}), revisions.LABEL: revision}
    spec = pod["spec"]
    tolerated = [*_TOLERATED, *([_OF_HOST_NETWORK] if spec.get("hostNetwork") else [])]
    added = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in tolerated]
    given = spec.get("tolerations") or []
    spec["tolerations"] = [*given, *(one for one in added if one not in given)]
    _bind_to(spec, node)
    return pod


def _bind_to(spec: Object, node: str) -> None:
    """Restrict a pod to this node, in addition to the node affinity of the template."""
    field_term = {"key": "metadata.name", "operator": "In", "values": [node]}
    affinity = spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
    terms = (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or [{}]
    affinity[_REQUIRED] = {"nodeSelectorTerms": [{**term, "matchFields": [field_term]} for term in terms]}


def node_of(pod: Object) -> str:
    """The node on which a pod runs, or for which it was made."""
    if pod["spec"].get("nodeName"):
        return str(pod["spec"]["nodeName"])
    terms = objects.get(pod, f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms", ())
    for term in terms:
        for one in term.get("matchFields") or ():
            if one["key"] == "metadata.name" and one["operator"] == "In":
                return str(one["values"][0])
    return ""


def wants(owner: Object, node: Object) -> bool:
    """Whether the node should run a pod."""
    return not scheduling.keeps_away(pod_of(owner, node["metadata"]["name"], ""), node)


def generation_hash(pod: Object) -> str:
    return str((pod["metadata"].get("labels") or {}).get(revisions.LABEL, ""))


class DaemonSetPlan(Struct):
    """The nodes without a pod, and the pods to delete."""

    make: list[str] = field(default_factory=list)
    delete: list[Object] = field(default_factory=list)


class DaemonSetSituation(Struct, frozen=True):
    """A daemon set, its pods by node, the names of the nodes that should run a pod, and the hash of its template."""

    owner: Object
    pods: Mapping[str, Sequence[Object]]
    nodes: frozenset[str]
    revision: str
    now: float

    @property
    def minimum(self) -> int:
        return int(self.owner["spec"].get("minReadySeconds") or 0)

    def is_available(self, pod: Object) -> bool:
        return pods.is_active(pod) and pods.is_available(pod, self.minimum, now=self.now)

    def plan(self) -> DaemonSetPlan:
        """The next steps: missing and surplus pods first, then the update."""
        plan = DaemonSetPlan()
        for node in sorted(self.nodes):
            there = self.pods.get(node, ())
            plan.delete += [pod for pod in there if pods.is_finished(pod) and not pods.is_ending(pod)]
            active = sorted(filter(pods.is_active, there), key=lambda pod: str(pod["metadata"]["creationTimestamp"]))
            if not there:
                plan.make.append(node)
            plan.delete += self._surplus(active)
        for node, there in self.pods.items():
            if node not in self.nodes:
                plan.delete += [pod for pod in there if not pods.is_ending(pod)]
        if objects.get(self.owner, "spec.updateStrategy.type", "RollingUpdate") == "RollingUpdate":
            self._update(plan)
        return plan

    def _surplus(self, active: Sequence[Object]) -> Sequence[Object]:
        """All active pods of a node but one. During a surge, the new pod may run beside the old one."""
        new = [pod for pod in active if generation_hash(pod) == self.revision]
        old = [pod for pod in active if generation_hash(pod) != self.revision]
        if self.surge and new and old:
            return [*new[1:], *(old if self.is_available(new[0]) else old[1:])]
        return active[1:]

    @property
    def surge(self) -> int:
        return self._amount("maxSurge", 0)

    def _amount(self, name: str, usual: int) -> int:
        value = objects.get(self.owner, f"spec.updateStrategy.rollingUpdate.{name}", usual)
        return scaled(value, len(self.nodes), up=True)

    def _update(self, plan: DaemonSetPlan) -> None:
        old, unavailable, replaced = [], 0, 0
        for node in sorted(self.nodes):
            active = [pod for pod in self.pods.get(node, ()) if pods.is_active(pod)]
            if not any(map(self.is_available, active)):
                unavailable += 1
            if len(active) == 1 and generation_hash(active[0]) != self.revision:
                old.append((node, active[0]))
            replaced += len(active) > 1
        if self.surge:
            plan.make += [node for node, _ in old][: max(0, self.surge - replaced)]
            return
        broken = [pod for _, pod in old if not self.is_available(pod)]
        working = [pod for _, pod in old if self.is_available(pod)]
        room = max(0, self._amount("maxUnavailable", 1) - unavailable)
        plan.delete += [*broken, *working[:room]]

    def status(self) -> Object:
        """The status of the daemon set."""
        scheduled = [self._oldest(node) for node in self.nodes]
        there = [pod for pod in scheduled if pod is not None]
        available = sum(1 for pod in there if self.is_available(pod))
        result: Object = {
            "currentNumberScheduled": len(there),
            "numberMisscheduled": sum(1 for node, some in self.pods.items() if some and node not in self.nodes),
            "desiredNumberScheduled": len(self.nodes),
            "numberReady": sum(1 for pod in there if is_ready(pod)),
            "observedGeneration": self.owner["metadata"].get("generation", 0),
        }
        updated = sum(1 for pod in there if generation_hash(pod) == self.revision)
        extra = (
            ("updatedNumberScheduled", updated),
            ("numberAvailable", available),
            ("numberUnavailable", len(self.nodes) - available),
        )
        result.update({name: number for name, number in extra if number})
        before = self.owner.get("status") or {}
        result.update({name: before[name] for name in ("collisionCount", "conditions") if before.get(name)})
        return result

    def _oldest(self, node: str) -> Object | None:
        some: Iterable[Object] = (pod for pod in self.pods.get(node, ()) if not pods.is_ending(pod))
        new = [pod for pod in some if generation_hash(pod) == self.revision]
        rest = [pod for pod in self.pods.get(node, ()) if not pods.is_ending(pod)]
        return next(iter([*new, *rest]), None)


def situation(
    owner: Object, by_node: Mapping[str, Sequence[Object]], nodes: Iterable[Object], revision: str, *, now: float
) -> DaemonSetSituation:
    """The situation of a daemon set on these nodes."""
    wanted = frozenset(node["metadata"]["name"] for node in nodes if wants(owner, node))
    return DaemonSetSituation(owner, by_node, wanted, revision, now)
