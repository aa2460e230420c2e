"""Spreading: the topology spread constraints of a pod, with the number of pods in each domain.

Pure. A constraint counts the nodes that have all topology keys of the pod's constraints, and that its policies include.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.controllers.runtime.node_placement import is_untolerated, matches_node
from aio_apiserver.registry.base.validation.label_selectors import selects
from aio_apiserver.simulation.scheduling.cluster_view import ClusterView
from aio_apiserver.simulation.scheduling.node_views import NodeView
from aio_apiserver.simulation.scheduling.pod_views import PodView
from aio_apiserver.simulation.scheduling.terms import PodSelection, selection

Constraint = Mapping[str, Any]


class Spread(Struct, frozen=True):
    """One constraint. `counts`: of the selected pods by domain; `own`: 1 when the pod selects itself."""

    key: str
    counts: Mapping[str, int]
    least: int
    own: int
    max_skew: int


def spreads_of(pod: PodView, view: ClusterView, action: str) -> Sequence[Spread]:
    """The constraints of a pod with this whenUnsatisfiable."""
    given = pod.obj["spec"].get("topologySpreadConstraints") or ()
    constraints = [one for one in given if one.get("whenUnsatisfiable") == action]
    keys = [one["topologyKey"] for one in constraints]
    return [_spread(one, keys, pod, view) for one in constraints]


def _spread(constraint: Constraint, keys: Sequence[str], pod: PodView, view: ClusterView) -> Spread:
    key = constraint["topologyKey"]
    found = _selection(constraint, pod)
    counts, domains = _counts(constraint, keys, found, pod, view)
    least = min((counts.get(value, 0) for value in domains), default=0)
    if len(domains) < int(constraint.get("minDomains") or 1):
        least = 0
    own = int(selects(found.labels, pod.labels))
    return Spread(key, counts, least, own, int(constraint["maxSkew"]))


def _selection(constraint: Constraint, pod: PodView) -> PodSelection:
    labels = constraint.get("labelSelector") or {"matchExpressions": [{"key": "", "operator": "Exists"}]}
    own = [
        {"key": key, "operator": "In", "values": [pod.labels[key]]}
        for key in constraint.get("matchLabelKeys") or ()
        if key in pod.labels
    ]
    if own:
        labels = {**labels, "matchExpressions": [*(labels.get("matchExpressions") or ()), *own]}
    return selection([pod.namespace], labels, skips_ending=True)


def _counts(
    constraint: Constraint, keys: Sequence[str], found: PodSelection, pod: PodView, view: ClusterView
) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """The counts by domain, and the domains."""
    key, selected = constraint["topologyKey"], view.selected((found,))
    if _includes_all(constraint, keys, pod, view):
        return selected.domains(key), view.values(key)
    counts: Counter[str] = Counter()
    for node in view.nodes:
        if all(one in node.labels for one in keys) and _is_included(constraint, pod, node):
            counts[node.labels[key]] += selected.by_node[node.name]
    return counts, counts


def _includes_all(constraint: Constraint, keys: Sequence[str], pod: PodView, view: ClusterView) -> bool:
    """Whether every node that has the topology key counts, so that the kept counts are right."""
    spec = pod.obj["spec"]
    chooses = spec.get("nodeSelector") or (spec.get("affinity") or {}).get("nodeAffinity")
    if (chooses and _policy(constraint, "nodeAffinityPolicy", "Honor")) or _policy(
        constraint, "nodeTaintsPolicy", "Ignore"
    ):
        return False
    total = len(view.nodes)
    return len(set(keys)) == 1 or all(sum(view.values(one).values()) == total for one in keys)


def _policy(constraint: Constraint, name: str, default: str) -> bool:
    """Whether a policy is honoured."""
    return (constraint.get(name) or default) == "Honor"


def _is_included(constraint: Constraint, pod: PodView, node: NodeView) -> bool:
    assert node.obj is not None
    if _policy(constraint, "nodeAffinityPolicy", "Honor") and not matches_node(pod.obj, node.obj):
        return False
    return not (_policy(constraint, "nodeTaintsPolicy", "Ignore") and is_untolerated(pod.obj, node.obj))
