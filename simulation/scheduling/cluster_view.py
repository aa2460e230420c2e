"""Cluster view: the nodes and their pods as the scheduler sees them, with the counts that its rules need.

It is kept by events, and includes pods whose binding has not arrived. Pure: it knows no informer and no clock.

Must hold: removing what was added leaves every count as it was, so that preemption can try removals.

A domain is a value of a node label, such as a zone. Counts by domain are made at their first use and kept from
then on; a change of the labels of a node drops them.

    pods by node      a: 2, b: 1            labels of nodes    a: zone=x, b: zone=x
    domains of zone   x: 3                  a new pod on b:    x: 4
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from aio_apiserver.base.unstructured import Object
from aio_apiserver.simulation.scheduling.node_views import NodeView
from aio_apiserver.simulation.scheduling.pod_views import PodView
from aio_apiserver.simulation.scheduling.terms import AffinityTerm, Labels, PodSelection, WeightedTerm

LabelsOf = Callable[[str], Labels]
"""The labels of a node by name."""


class DomainCounts:
    """The counts of one kind of pods."""

    def __init__(self, labels_of: LabelsOf) -> None:
        self._labels_of = labels_of
        self.by_node: Counter[str] = Counter()
        self._domains: dict[str, Counter[str]] = {}

    def add(self, node: str, number: int) -> None:
        """Count so many more pods on a node."""
        self.by_node[node] += number
        if not self.by_node[node]:
            del self.by_node[node]
        for key, domains in self._domains.items():
            self._count(domains, self._labels_of(node).get(key), number)

    def domains(self, key: str) -> Mapping[str, int]:
        """The counts by value of a label. Values without pods are absent."""
        found = self._domains.get(key)
        if found is None:
            found = self._domains[key] = Counter()
            for node, number in self.by_node.items():
                self._count(found, self._labels_of(node).get(key), number)
        return found

    def forget_domains(self) -> None:
        """The labels of a node have changed."""
        self._domains.clear()

    def _count(self, domains: Counter[str], value: str | None, number: int) -> None:
        if value is None:
            return
        domains[value] += number
        if not domains[value]:
            del domains[value]


_MOST_SELECTIONS = 128
"""The selections whose counts are kept. Those that were used last stay."""
Selections = tuple[PodSelection, ...]
T = TypeVar("T")


class ClusterView:
    """The cluster of one scheduler."""

    def __init__(self) -> None:
        self._nodes: dict[str, NodeView] = {}
        self._place: dict[str, str] = {}
        """The node of each pod by key."""
        self.namespaces: dict[str, Labels] = {}
        self.nominated: dict[str, dict[str, PodView]] = {}
        """The pods that preemption makes room for, by node and key."""
        self.anti_affinity: dict[AffinityTerm, DomainCounts] = {}
        """The pods that have a required anti-affinity term."""
        self.affinity: dict[AffinityTerm, DomainCounts] = {}
        self.preferred: dict[WeightedTerm, DomainCounts] = {}
        self._selected: OrderedDict[Selections, DomainCounts] = OrderedDict()
        self._listed: Sequence[NodeView] | None = None
        self._values: dict[str, Counter[str]] = {}

    # Nodes

    @property
    def nodes(self) -> Sequence[NodeView]:
        """The nodes that exist."""
        if self._listed is None:
            self._listed = [one for one in self._nodes.values() if one.obj is not None]
        return self._listed

    def node(self, name: str) -> NodeView | None:
        """A node that exists."""
        found = self._nodes.get(name)
        return found if found is not None and found.obj is not None else None

    def put_node(self, name: str, obj: Object | None) -> None:
        """Add, replace or remove a node. Its pods stay."""
        node = self._at(name)
        labels, existed = node.labels, node.obj is not None
        node.describe(obj)
        if existed != (obj is not None):
            self._listed = None
        if labels != node.labels or existed != (obj is not None):
            self._forget_domains()
        if obj is None and not node.pods:
            del self._nodes[name]

    def values(self, key: str) -> Mapping[str, int]:
        """The values of a label, each with the number of nodes that have it."""
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = Counter(one.labels[key] for one in self.nodes if key in one.labels)
        return found

    def put_namespace(self, name: str, labels: Labels | None) -> None:
        """Add, replace or remove a namespace."""
        if self.namespaces.get(name) == labels:
            return
        if labels is None:
            self.namespaces.pop(name, None)
        else:
            self.namespaces[name] = labels
        for selections in [one for one in self._selected if any(part.namespace_selector is not None for part in one)]:
            del self._selected[selections]

    # Pods

    def node_of(self, key: str) -> str:
        """The node of a pod; empty for a pod without one."""
        return self._place.get(key, "")

    def pod(self, key: str) -> PodView | None:
        """A pod that has a node."""
        node = self._place.get(key)
        return self._nodes[node].pods[key] if node is not None else None

    def put(self, pod: PodView, node: str) -> None:
        """Place a pod on a node. A pod of the same key is replaced."""
        self.remove(pod.key)
        self._at(node).add(pod)
        self._place[pod.key] = node
        self._count(pod, node, 1)

    def remove(self, key: str) -> PodView | None:
        """Take a pod off its node. The pod, if it had one."""
        name = self._place.pop(key, "")
        if not name:
            return None
        node = self._nodes[name]
        pod = node.pods[key]
        node.remove(key)
        self._count(pod, name, -1)
        if node.obj is None and not node.pods:
            del self._nodes[name]
        return pod

    def nominate(self, pod: PodView, node: str) -> None:
        """Keep room for a pod on a node; on none with an empty name."""
        for name in [name for name, pods in self.nominated.items() if pod.key in pods]:
            del self.nominated[name][pod.key]
            if not self.nominated[name]:
                del self.nominated[name]
        if node:
            self.nominated.setdefault(node, {})[pod.key] = pod

    def selected(self, selections: Selections) -> DomainCounts:
        """The numbers of pods that all of these selections select."""
        found = self._selected.get(selections)
        if found is None:
            found = self._selected[selections] = DomainCounts(self._labels_of)
            for key, name in self._place.items():
                if self._is_selected(selections, self._nodes[name].pods[key]):
                    found.add(name, 1)
            if len(self._selected) > _MOST_SELECTIONS:
                self._selected.popitem(last=False)
        self._selected.move_to_end(selections)
        return found

    def _is_selected(self, selections: Selections, pod: PodView) -> bool:
        return all(
            one.selects(pod.namespace, pod.labels, self.namespaces) and not (one.skips_ending and pod.is_ending)
            for one in selections
        )

    def _count(self, pod: PodView, node: str, number: int) -> None:
        for selections, counts in self._selected.items():
            if self._is_selected(selections, pod):
                counts.add(node, number)
        if pod.terms.has_any:
            self._count_terms(self.anti_affinity, pod.terms.anti_affinity, node, number)
            self._count_terms(self.affinity, pod.terms.affinity, node, number)
            self._count_terms(self.preferred, pod.terms.preferred, node, number)

    def _count_terms(self, kept: dict[T, DomainCounts], terms: Iterable[T], node: str, number: int) -> None:
        for term in terms:
            counts = kept.get(term)
            if counts is None:
                counts = kept[term] = DomainCounts(self._labels_of)
            counts.add(node, number)
            if not counts.by_node:
                del kept[term]

    def _at(self, name: str) -> NodeView:
        found = self._nodes.get(name)
        if found is None:
            found = self._nodes[name] = NodeView(name)
        return found

    def _labels_of(self, name: str) -> Labels:
        found = self._nodes.get(name)
        return found.labels if found is not None else {}

    def _forget_domains(self) -> None:
        self._values.clear()
        for kept in (self.anti_affinity, self.affinity, self.preferred, self._selected):
            for counts in kept.values():
                counts.forget_domains()
