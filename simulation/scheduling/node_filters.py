"""Node filters: whether a node by itself takes a pod: its taints, labels, ports and resources.

Pure. Must hold: the filters run in kube-scheduler's order, and the first one that rejects gives the reasons.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from aio_apiserver.controllers.runtime.node_placement import UNSCHEDULABLE, is_untolerated, matches_node
from aio_apiserver.simulation.scheduling.node_views import NodeView
from aio_apiserver.simulation.scheduling.pod_views import PodView, ports_clash
from aio_apiserver.simulation.scheduling.rejections import Rejection, final, passing

_NANOS = 10**9
OTHER_LABELS = final("node(s) didn't match Pod's node affinity/selector")
_CORDONED = final(UNSCHEDULABLE)
_TAINTED = final("node(s) had untolerated taint(s)")
_PORTS = passing("node(s) didn't have free ports for the requested pod ports")
_TOO_MANY = "Too many pods"


def reject(pod: PodView, node: NodeView) -> Rejection | None:
    """The reasons against a node; None when it takes the pod."""
    obj = node.obj
    if obj is None:
        return OTHER_LABELS
    spec = obj["spec"]
    if (spec.get("unschedulable") or spec.get("taints")) and (reason := is_untolerated(pod.obj, obj)):
        return _CORDONED if reason == UNSCHEDULABLE else _TAINTED
    given = pod.obj["spec"]
    if (given.get("nodeSelector") or given.get("affinity")) and not matches_node(pod.obj, obj):
        return OTHER_LABELS
    if pod.ports and ports_clash(pod.ports, node.ports):
        return _PORTS
    return _lacks(pod, node)


def _lacks(pod: PodView, node: NodeView) -> Rejection | None:
    allocatable, used = node.allocatable, node.used
    reasons = [_TOO_MANY] if (len(node.pods) + 1) * _NANOS > allocatable.get("pods", 0) else []
    is_final = False
    for name, amount in pod.requests.items():
        there = allocatable.get(name, 0)
        if amount > there - used[name] and amount:
            reasons.append(f"Insufficient {name}")
            is_final = is_final or amount > there
    return Rejection(tuple(reasons), is_final) if reasons else None


def pinned(pod: PodView) -> set[str] | None:
    """The names of the nodes that the node affinity names, as of pods of daemon sets; None when it names none."""
    affinity = (pod.obj["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    if not required:
        return None
    names: set[str] = set()
    for term in required["nodeSelectorTerms"]:
        found = _names(term.get("matchFields") or ())
        if not found:
            return None
        names |= found
    return names


def _names(expressions: Iterable[Mapping[str, Any]]) -> set[str]:
    chosen = (one for one in expressions if one["key"] == "metadata.name" and one["operator"] == "In")
    return {str(name) for one in chosen for name in one["values"]}
