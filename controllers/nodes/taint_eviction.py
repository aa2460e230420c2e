"""Taint eviction: deletes pods from nodes with NoExecute taints, when their tolerations have ended.

The queue keys are those of pods. Must hold: the time of a toleration begins when this controller has seen the taint.
"""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.controllers.runtime.node_placement import covers
from aio_apiserver.controllers.runtime.pods_by_node import PodsByNode
from aio_apiserver.controllers.runtime.resources import NODES, PODS
from aio_apiserver.registry.groups.core.pods import pod_conditions


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
        if node is not None and taints_of(node):
            self.queue.add(key)

    def _node_changed(self, name: str, before: Object | None, after: Object | None) -> None:
        was, now = (taints_of(node) if node is not None else [] for node in (before, after))
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
        stays = stays_for(pod, taints_of(node) if node is not None else [])
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
        await self.client.change(PODS.part("status"), pod, lambda present: mark(present, now=self.desk.now()))
        await self.client.delete(PODS, pod)
        self._since.pop(pod["metadata"]["uid"], None)

    def _say(self, pod: Object, text: str) -> None:
        self.recorder.say(events.reference(pod, "v1", "Pod"), "TaintManagerEviction", text)


_REASON = "DeletionByTaintManager"
_MESSAGE = "Taint manager: deleting due to NoExecute taint"
Taint = Mapping[str, Any]


def taints_of(node: Object) -> list[Taint]:
    """The taints that evict pods."""
    return [one for one in node["spec"].get("taints") or () if one.get("effect") == "NoExecute"]


def stays_for(pod: Object, taints: list[Taint]) -> float | None:
    """The seconds for which a pod tolerates all taints; None for ever."""
    if not taints:
        return None
    tolerations = pod["spec"].get("tolerations") or ()
    used = []
    for taint in taints:
        matching = next((one for one in tolerations if covers(one, taint)), None)
        if matching is None:
            return 0.0
        used.append(matching)
    times = [float(one["tolerationSeconds"]) for one in used if one.get("tolerationSeconds") is not None]
    return max(0.0, min(times)) if times else None


def mark(pod: Object, *, now: str) -> None:
    """Note the reason of the deletion in the status of a pod."""
    status = dict(pod.get("status") or {})
    status["conditions"] = [dict(one) for one in status.get("conditions") or ()]
    condition = {"type": "DisruptionTarget", "status": "True", "reason": _REASON, "message": _MESSAGE}
    pod_conditions.put(status, condition, now=now)
    pod["status"] = status
