"""Node lifecycle: marks nodes whose kubelet is silent, taints nodes in trouble, and marks their pods as not ready.

The queue keys are the names of nodes. Must hold: a node counts as lost after it gave no sign of life for the grace
period, by the product's clock.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.nodes import node_health
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.controllers.runtime.pods_by_node import PodsByNode
from aio_apiserver.controllers.runtime.resources import LEASES, NODES, PODS

_LEASES = "kube-node-lease"


class NodeLifecycle(Controller):
    """The health of nodes."""

    name = "node-lifecycle-controller"
    account = "node-controller"
    component = "node-controller"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._last_signs: dict[str, tuple[tuple[str, str], float]] = {}
        """The last sign of life of each node, and when it was seen."""

    def begin(self) -> None:
        self._leases = self.follow(LEASES)
        self._pods = PodsByNode(self.follow(PODS))
        self._nodes = self.follow(NODES, key_of)
        self._nodes.listen(self._node_changed)

    def _node_changed(self, name: str, before: Object | None, after: Object | None) -> None:
        if after is None or (before is not None and before["metadata"]["uid"] != after["metadata"]["uid"]):
            self._last_signs.pop(name, None)

    async def reconcile(self, key: str) -> float | None:
        node = self._nodes.get(key)
        if node is None:
            return None
        left = self._seconds_left(node)
        if left <= 0:
            node = await self._lose(node)
        if node is None:
            return None
        await self.client.change(NODES, node, lambda present: node_health.taint(present, now=self.desk.now()))
        if node_health.ready_status(node) in ("False", "Unknown"):
            await self._mark_pods(key)
        return max(left, 0.0) or node_health.GRACE_SECONDS

    def _seconds_left(self, node: Object) -> float:
        """The seconds until a node counts as lost, unless it gives a sign of life."""
        name, now = node["metadata"]["name"], self.desk.clock.now()
        beat = node_health.heartbeat(node, self._leases.get(f"{_LEASES}/{name}"))
        grace = node_health.GRACE_SECONDS if beat[0] else node_health.STARTUP_GRACE_SECONDS
        known = self._last_signs.get(name)
        if known is None or known[0] != beat:
            known = self._last_signs[name] = beat, now if any(beat) else node_health.created(node)
        return known[1] + grace - now

    async def _lose(self, node: Object) -> Object | None:
        was = node_health.ready_status(node)
        lost = await self.client.change(
            NODES.part("status"), node, lambda present: node_health.lose(present, now=self.desk.now())
        )
        if lost is not None and was == "True":
            about = events.reference(node, "v1", "Node")
            text = f"Node {node['metadata']['name']} status is now: NodeNotReady"
            self.recorder.say(about, "NodeNotReady", text)
        return lost

    async def _mark_pods(self, name: str) -> None:
        """Take the pods of a node out of services."""
        for pod in self._pods.on(name):
            if podrules.ready_since(pod) is None:
                continue
            marked = await self.client.change(
                PODS.part("status"), pod, lambda present: node_health.unready(present, now=self.desk.now())
            )
            if marked is not None:
                about = events.reference(pod, "v1", "Pod")
                self.recorder.say(about, "NodeNotReady", "Node is not ready", is_warning=True)
