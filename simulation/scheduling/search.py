"""Search: the node for a pod, or the reasons why there is none.

Pure. With more than 100 nodes it looks at nodes, in turn from pod to pod, until enough of them take the pod.

Must hold: a node that fits has room for the pod beside the pods of at least its priority that are nominated to it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.scheduling import node_filters, scores
from aio_apiserver.simulation.scheduling.cluster_view import ClusterView
from aio_apiserver.simulation.scheduling.node_views import NodeView
from aio_apiserver.simulation.scheduling.pod_rules import PodRules, rules_of
from aio_apiserver.simulation.scheduling.pod_views import PodView
from aio_apiserver.simulation.scheduling.rejections import Diagnosis, Rejection, final

_FEW_NODES = 100
"""Up to this number, every node is compared."""
_ENOUGH = 20
"""The number of nodes to compare when free resources alone decide."""
_LEAST_PERCENT, _MOST_PERCENT, _NODES_A_PERCENT = 5, 50, 125
_OTHERS = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
Excluded = Callable[[Object], str]
"""A reason against a node that is not in the view, such as the place of a volume; empty for none."""


class Wanted(Struct, frozen=True):
    """A pod that wants a node."""

    pod: PodView
    view: ClusterView
    excluded: Excluded = lambda _node: ""

    def reject(self, node: NodeView, rules: PodRules) -> Rejection | None:
        """The reasons against a node as it is; None when it takes the pod."""
        rejected = node_filters.reject(self.pod, node)
        if rejected is not None:
            return rejected
        assert node.obj is not None
        if reason := self.excluded(node.obj):
            return final(reason)
        return rules.reject(node) if rules.has_any else None

    def reject_beside_nominated(self, node: NodeView, rules: PodRules) -> Rejection | None:
        """The reasons against a node, with the pods that are nominated to it and without them."""
        nominated = self.view.nominated.get(node.name)
        others = [one for one in nominated.values() if self._gives_way_to(one)] if nominated else ()
        if others:
            with placed(self.view, others, node.name):
                rejected = self.reject(node, rules_of(self.pod, self.view))
            if rejected is not None:
                return rejected
        return self.reject(node, rules)

    def _gives_way_to(self, other: PodView) -> bool:
        is_other = other.key != self.pod.key and not self.view.node_of(other.key)
        return is_other and other.priority >= self.pod.priority


@contextmanager
def placed(view: ClusterView, pods: list[PodView], node: str) -> Iterator[None]:
    """The view with more pods on a node."""
    for pod in pods:
        view.put(pod, node)
    try:
        yield
    finally:
        for pod in pods:
            view.remove(pod.key)


class Found(Struct, frozen=True):
    """The node, or else the diagnosis."""

    node: str
    diagnosis: Diagnosis


class Search:
    """The searches of one scheduler. `_next`: the place of the node at which the next one begins."""

    def __init__(self) -> None:
        self._next = 0

    def find(self, wanted: Wanted, preferred: str = "") -> Found:
        """The best node. `preferred` is taken when it fits."""
        view, pod = wanted.view, wanted.pod
        rules = rules_of(pod, view)
        diagnosis = Diagnosis(len(view.nodes))
        first = view.node(preferred) if preferred else None
        if first is not None and wanted.reject_beside_nominated(first, rules) is None:
            return Found(preferred, diagnosis)
        fitting = self._fitting(wanted, rules, diagnosis)
        return Found(scores.best(pod, fitting, view).name if fitting else "", diagnosis)

    def _fitting(self, wanted: Wanted, rules: PodRules, diagnosis: Diagnosis) -> list[NodeView]:
        found = []
        enough = self._enough(wanted)
        for node in self._nodes(wanted, diagnosis):
            rejected = wanted.reject_beside_nominated(node, rules)
            if rejected is not None:
                diagnosis.nodes[node.name] = rejected
                continue
            found.append(node)
            if len(found) >= enough:
                break
        self._next += len(found) + len(diagnosis.nodes)
        return found

    def _nodes(self, wanted: Wanted, diagnosis: Diagnosis) -> Iterator[NodeView]:
        names = node_filters.pinned(wanted.pod)
        if names is not None:
            diagnosis.others = _OTHERS
            yield from filter(None, map(wanted.view.node, sorted(names)))
            return
        nodes = wanted.view.nodes
        start = self._next % len(nodes) if nodes else 0
        for place in range(start, start + len(nodes)):
            yield nodes[place % len(nodes)]

    def _enough(self, wanted: Wanted) -> int:
        """The number of nodes to compare, as kube-scheduler's percentageOfNodesToScore when preferences count."""
        total = len(wanted.view.nodes)
        if total <= _FEW_NODES:
            return total
        if not scores.prefers(wanted.pod, wanted.view):
            return _ENOUGH
        percent = max(_LEAST_PERCENT, _MOST_PERCENT - total // _NODES_A_PERCENT)
        return max(_FEW_NODES, total * percent // 100)
