"""Node views: a node with the sums of its pods.

Pure. Must hold: adding a pod and removing it again leaves the sums as they were.
"""

from collections import Counter
from collections.abc import Mapping

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import amounts
from aio_apiserver.simulation.scheduling.pod_views import Nanos, PodView, Port


class NodeView:
    """A node. `obj` may be replaced while its pods stay."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.obj: Object | None = None
        self.labels: Mapping[str, str] = {}
        self.allocatable: Nanos = {}
        self.pods: dict[str, PodView] = {}
        self.used: Counter[str] = Counter()
        self.scored: Counter[str] = Counter()
        self.ports: Counter[Port] = Counter()

    def describe(self, obj: Object | None) -> None:
        """Replace the object; None when the node is gone."""
        self.obj = obj
        self.labels = (obj["metadata"].get("labels") or {}) if obj is not None else {}
        given = (obj.get("status") or {}).get("allocatable") if obj is not None else None
        self.allocatable = {name: amount.nanos for name, amount in amounts.parsed(given).items()}

    def add(self, pod: PodView) -> None:
        self.pods[pod.key] = pod
        self._count(pod, 1)

    def remove(self, key: str) -> None:
        self._count(self.pods.pop(key), -1)

    def _count(self, pod: PodView, sign: int) -> None:
        for name, amount in pod.requests.items():
            self.used[name] += sign * amount
        for name, amount in pod.scored.items():
            self.scored[name] += sign * amount
        for port in pod.ports:
            self.ports[port] += sign
            if not self.ports[port]:
                del self.ports[port]


def is_alike(before: Object, after: Object) -> bool:
    """Whether the scheduler sees no difference between two states of a node. Heartbeats make no difference."""
    was, now = before.get("status") or {}, after.get("status") or {}
    return (
        before["spec"] == after["spec"]
        and before["metadata"].get("labels") == after["metadata"].get("labels")
        and before["metadata"].get("annotations") == after["metadata"].get("annotations")
        and was.get("allocatable") == now.get("allocatable")
    )
