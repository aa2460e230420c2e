"""Node admission: what a kubelet checks before it starts a pod that no scheduler has placed, such as its host ports.

Pure. Must hold: the checks run in kubelet's order, and the first one that fails names the reason.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.node_placement import matches_node, tolerates
from aio_apiserver.simulation.scheduling.node_views import NodeView
from aio_apiserver.simulation.scheduling.pod_views import PodView, ports_clash, view_of

_NANOS = 10**9


class PodRefusal(NamedTuple):
    """Why a node does not start a pod."""

    reason: str
    message: str


def refusal(pod: Object, node: Object, others: Iterable[Object]) -> PodRefusal | None:
    """Why a node refuses a pod beside the pods that it has started; None when it takes it."""
    place = NodeView(node["metadata"]["name"])
    place.describe(node)
    for other in others:
        place.add(view_of(other))
    wanted = view_of(pod)
    return next(_refusals(wanted, place, node), None)


def refused(status: Object, why: PodRefusal, *, now: str) -> Object:
    """The status of a pod that a node has refused."""
    failed = {"phase": "Failed", "reason": why.reason, "message": f"Pod was rejected: {why.message}", "startTime": now}
    return {**status, **failed}


def _refusals(pod: PodView, place: NodeView, node: Object) -> Iterator[PodRefusal]:
    yield from _lacks(pod, place)
    if not matches_node(pod.obj, node):
        yield _failed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
    if ports_clash(pod.ports, place.ports):
        yield _failed("NodePorts", "node(s) didn't have free ports for the requested pod ports")
    taints = [one for one in node["spec"].get("taints") or () if one.get("effect") == "NoExecute"]
    if not all(tolerates(pod.obj, one) for one in taints):
        yield _failed("TaintToleration", "node(s) had taints that the pod didn't tolerate")


def _lacks(pod: PodView, place: NodeView) -> Iterator[PodRefusal]:
    """The resources that do not suffice. Those that the node does not know are other components' business."""
    capacity = place.allocatable.get("pods", 0) // _NANOS
    if len(place.pods) + 1 > capacity:
        yield _insufficient("pods", 1, len(place.pods), capacity)
    for name, amount in pod.requests.items():
        there, used = place.allocatable.get(name), place.used[name]
        if amount and there is not None and amount > there - used:
            unit = _NANOS // 1000 if name == "cpu" else _NANOS
            yield _insufficient(name, amount // unit, used // unit, there // unit)


def _insufficient(resource: str, requested: int, used: int, capacity: int) -> PodRefusal:
    amounts = f"requested: {requested}, used: {used}, capacity: {capacity}"
    return PodRefusal(f"OutOf{resource}", f"Node didn't have enough resource: {resource}, {amounts}")


def _failed(predicate: str, reason: str) -> PodRefusal:
    return PodRefusal(predicate, f"Predicate {predicate} failed: {reason}")
