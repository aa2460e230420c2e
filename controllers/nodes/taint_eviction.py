"""Taint eviction: deletes pods from nodes with NoExecute taints, when their tolerations have ended.

The queue keys are those of pods. Must hold: the time of a toleration begins when this controller has seen the taint.
"""

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.nodes import eviction_times as taint_evictions
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.controllers.runtime.pods_by_node import PodsByNode
from aio_apiserver.controllers.runtime.resources import NODES, PODS


class TaintEviction(Controller):
    """Evicts pods."""

    name = "taint-eviction-controller"
    account = "node-controller"
    component = "taint-eviction-controller"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._since: dict[str, float] = {}
        """When a pod was first seen on a node with taints, by uid."""

    def begin(self) -> None:
        self._nodes = self.follow(NODES)
        self._informer = self.follow(PODS)
        self._informer.listen(self._pod_changed)
        self._pods = PodsByNode(self._informer, self._look_at)
        self._nodes.listen(self._node_changed)

    def _look_at(self, key: str) -> None:
        pod = self._informer.get(key)
        node = self._nodes.get(pod["spec"]["nodeName"]) if pod is not None else None
        if node is not None and taint_evictions.taints_of(node):
            self.queue.add(key)

    def _node_changed(self, name: str, before: Object | None, after: Object | None) -> None:
        was, now = (taint_evictions.taints_of(node) if node is not None else [] for node in (before, after))
        if was != now:
            for key in self._pods.keys_on(name):
                self.queue.add(key)

    def _pod_changed(self, _key: str, before: Object | None, after: Object | None) -> None:
        if before is not None and (after is None or after["metadata"]["uid"] != before["metadata"]["uid"]):
            self._since.pop(before["metadata"]["uid"], None)

    async def reconcile(self, key: str) -> float | None:
        pod = self._informer.get(key)
        if pod is None or not podrules.is_active(pod):
            return None
        node = self._nodes.get(pod["spec"].get("nodeName") or "")
        stays = taint_evictions.stays_for(pod, taint_evictions.taints_of(node) if node is not None else [])
        uid, now = pod["metadata"]["uid"], self.desk.clock.monotonic()
        if stays is None:
            if self._since.pop(uid, None) is not None:
                self._say(pod, f"Cancelling deletion of Pod {key}")
            return None
        left = self._since.setdefault(uid, now) + stays - now
        if left > 0:
            return left
        await self._evict(pod, key)
        return None

    async def _evict(self, pod: Object, key: str) -> None:
        self._say(pod, f"Marking for deletion Pod {key}")
        await self.client.change(
            PODS.part("status"), pod, lambda present: taint_evictions.mark(present, now=self.desk.now())
        )
        await self.client.delete(PODS, pod)
        self._since.pop(pod["metadata"]["uid"], None)

    def _say(self, pod: Object, text: str) -> None:
        self.recorder.say(events.reference(pod, "v1", "Pod"), "TaintManagerEviction", text)
