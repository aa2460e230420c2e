"""Scores: which of the nodes that take a pod is the best, with kube-scheduler's default plugins and weights.

Pure. Each plugin gives 0 to 100. They are free and balanced resources, preferred taints, node affinity, inter-pod
affinity and spreading.
"""

import math
from collections.abc import Callable, Sequence

from aio_apiserver.controllers.runtime.node_placement import meets_terms, tolerates
from aio_apiserver.simulation.scheduling.cluster_view import ClusterView
from aio_apiserver.simulation.scheduling.node_views import NodeView
from aio_apiserver.simulation.scheduling.pod_views import PodView
from aio_apiserver.simulation.scheduling.spreading import spreads_of

_MOST = 100.0
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_TAINT_WEIGHT, _AFFINITY_WEIGHT = 3, 2
_HARD_AFFINITY_WEIGHT = 1
"""The weight that a required affinity of a running pod has for pods that it selects."""
Raw = Callable[[NodeView], float]


def prefers(pod: PodView, view: ClusterView) -> bool:
    """Whether the choice depends on more than free resources, so that more nodes are worth a look."""
    affinity = (pod.obj["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    return bool(
        pod.terms.preferred
        or affinity.get(_PREFERRED)
        or pod.obj["spec"].get("topologySpreadConstraints")
        or view.preferred
        or view.affinity
    )


def best(pod: PodView, nodes: Sequence[NodeView], view: ClusterView) -> NodeView:
    """The best node; of equals the one with the fewest pods, and then the first."""
    if len(nodes) == 1:
        return nodes[0]
    totals = [_resources(pod, node) for node in nodes]
    if any(node.obj is not None and node.obj["spec"].get("taints") for node in nodes):
        _add(totals, nodes, lambda node: _taints(pod, node), _TAINT_WEIGHT, is_reverse=True)
    if prefers(pod, view):
        _add(totals, nodes, lambda node: _node_affinity(pod, node), _AFFINITY_WEIGHT)
        _add_around_least(totals, nodes, _pod_affinity(pod, view))
        _add_spreads(totals, nodes, pod, view)
    ranked = ((-total, len(node.pods), place) for place, (total, node) in enumerate(zip(totals, nodes, strict=True)))
    return nodes[min(ranked)[2]]


def _resources(pod: PodView, node: NodeView) -> float:
    """The free part of CPU and memory, and how evenly both are used."""
    shares = []
    for name, amount in pod.scored.items():
        there = node.allocatable.get(name, 0)
        if there:
            shares.append(min(1.0, (node.scored[name] + amount) / there))
    if not shares:
        return 0.0
    free = int(_MOST * (1 - sum(shares) / len(shares)))
    uneven = (max(shares) - min(shares)) / 2
    return free + int(_MOST * (1 - uneven))


def _add(totals: list[float], nodes: Sequence[NodeView], raw: Raw, weight: int, *, is_reverse: bool = False) -> None:
    values = [raw(node) for node in nodes]
    most = max(values)
    for place, value in enumerate(values):
        share = value / most if most else 0.0
        totals[place] += weight * int(_MOST * (1 - share if is_reverse else share))


def _add_around_least(totals: list[float], nodes: Sequence[NodeView], raw: Raw) -> None:
    """Add values that may be negative: the least is 0, the most 100."""
    values = [raw(node) for node in nodes]
    least, most = min(values), max(values)
    if most > least:
        for place, value in enumerate(values):
            totals[place] += _AFFINITY_WEIGHT * int(_MOST * (value - least) / (most - least))


def _taints(pod: PodView, node: NodeView) -> float:
    taints = (node.obj or {}).get("spec", {}).get("taints") or ()
    return float(sum(one.get("effect") == "PreferNoSchedule" and not tolerates(pod.obj, one) for one in taints))


def _node_affinity(pod: PodView, node: NodeView) -> float:
    affinity = (pod.obj["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    return float(
        sum(
            one["weight"]
            for one in affinity.get(_PREFERRED) or ()
            if node.obj is not None and meets_terms([one["preference"]], node.obj)
        )
    )


def _pod_affinity(pod: PodView, view: ClusterView) -> Raw:
    """The preferences of the pod about others, and those of others about the pod."""
    weighted = [
        (view.selected((one.term.selection,)).domains(one.term.key), one.term.key, one.weight)
        for one in pod.terms.preferred
    ]
    weighted += [
        (counts.domains(one.term.key), one.term.key, one.weight)
        for one, counts in view.preferred.items()
        if one.term.selection.selects(pod.namespace, pod.labels, view.namespaces)
    ]
    weighted += [
        (counts.domains(term.key), term.key, _HARD_AFFINITY_WEIGHT)
        for term, counts in view.affinity.items()
        if term.selection.selects(pod.namespace, pod.labels, view.namespaces)
    ]
    return lambda node: float(
        sum(counts.get(node.labels[key], 0) * weight for counts, key, weight in weighted if key in node.labels)
    )


def _add_spreads(totals: list[float], nodes: Sequence[NodeView], pod: PodView, view: ClusterView) -> None:
    """Add the soft constraints: domains with fewer pods are better. Nodes without the labels get nothing."""
    spreads = [(one, math.log(len(view.values(one.key)) + 2)) for one in spreads_of(pod, view, "ScheduleAnyway")]
    if not spreads:
        return
    found = {
        place: sum(one.counts.get(node.labels[one.key], 0) * weight + one.max_skew - 1 for one, weight in spreads)
        for place, node in enumerate(nodes)
        if all(one.key in node.labels for one, _ in spreads)
    }
    most = max(found.values(), default=0.0)
    least = min(found.values(), default=0.0)
    for place, value in found.items():
        totals[place] += _AFFINITY_WEIGHT * (int(_MOST * (most + least - value) / most) if most else _MOST)
