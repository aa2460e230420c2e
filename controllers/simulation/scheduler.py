"""Scheduler: binds each unscheduled pod to the node with the fewest pods among those that fit.

Must hold: one pod is scheduled at a time, and counts for its node from then on. So resources are not assigned twice.
"""

from functools import partial

from aio_apiserver.controllers.decisions import events, scheduling
from aio_apiserver.controllers.decisions import pods as podrules
from aio_apiserver.controllers.decisions.volume_scheduling import PodClaims
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.controllers.runtime.places import NODES, PODS
from aio_apiserver.controllers.simulation.volume_binding import VolumeBinding
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.groups.core import pod_conditions
from aio_apiserver.storage.stored_object import Object

_NAME = "default-scheduler"


def _is_mine(pod: Object) -> bool:
    """Whether this scheduler has to bind the pod."""
    spec = pod["spec"]
    waits = not spec.get("nodeName") and not spec.get("schedulingGates") and podrules.is_active(pod)
    return waits and spec.get("schedulerName", _NAME) == _NAME


class Scheduler(Controller):
    """Binds pods."""

    name = "simulated-scheduler"
    component = _NAME
    workers = 1

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._on: dict[str, dict[str, Object]] = {}
        """The pods of each node, including those whose binding has not arrived."""
        self._node_of: dict[str, str] = {}
        """The node of each pod by key, including bindings that have not arrived."""
        self._unplaced: set[str] = set()

    def begin(self) -> None:
        self.act_as("system:kube-scheduler", manager="kube-scheduler")
        self._pods = self.follow(PODS, lambda pod: key_of(pod) if _is_mine(pod) else "")
        self._pods.listen(self._pod_changed)
        self._nodes = self.follow(NODES)
        self._nodes.listen(lambda _key, _before, _after: self._look_again())
        self._volumes = VolumeBinding(self.follow, self.queue.add)

    def _pod_changed(self, key: str, _before: Object | None, after: Object | None) -> None:
        node = self._node_of.get(key, "") if after is None or after["spec"].get("nodeName") else ""
        self._take_off(key, node)
        if after is not None and after["spec"].get("nodeName") and not podrules.is_finished(after):
            self._put_on(after["spec"]["nodeName"], key, after)
        elif node:
            self._look_again()

    def _put_on(self, node: str, key: str, pod: Object) -> None:
        self._on.setdefault(node, {})[key] = pod
        self._node_of[key] = node

    def _take_off(self, key: str, node: str) -> None:
        if self._on.get(node, {}).pop(key, None) is not None:
            del self._node_of[key]

    def _look_again(self) -> None:
        """Queue the unschedulable pods, since resources may be free now."""
        for key in self._unplaced:
            self.queue.add(key)
        self._unplaced.clear()

    async def reconcile(self, key: str) -> float | None:
        pod = self._pods.get(key)
        if pod is None or not _is_mine(pod) or key in self._node_of:
            return None
        claims = self._volumes.of(pod)
        if claims.problem or claims.is_waiting:
            await self._wait_for_claims(pod, claims.problem)
            return None
        node, why = await self._choose(pod, claims)
        if not node:
            self._unplaced.add(key)
            self._volumes.wait(pod)
            await self._tell(pod, why)
        elif claims.open:
            self._volumes.wait(pod)
            await self._volumes.assign(self.client, claims, self._nodes.items[node])
        else:
            await self._bind(pod, node)
        return None

    async def _choose(self, pod: Object, claims: PodClaims) -> tuple[str, str]:
        """The node for a pod, or the reason why there is none."""
        there = {name: list(pods.values()) for name, pods in self._on.items()}
        nodes = list(self._nodes.items.values())
        chosen = self._nodes.get(claims.chosen)
        if chosen is not None and not scheduling.why_not(pod, chosen, there.get(claims.chosen, ())):
            return claims.chosen, ""
        choose = partial(scheduling.choose, pod, nodes, there, self._volumes.keeps_away(claims))
        return await self.work(choose, len(nodes))

    async def _wait_for_claims(self, pod: Object, problem: str) -> None:
        self._volumes.wait(pod)
        if problem:
            await self._tell(pod, f"0/{len(self._nodes.items)} nodes are available: {problem}.")

    async def _bind(self, pod: Object, node: str) -> None:
        metadata = pod["metadata"]
        binding = {
            "metadata": {"name": metadata["name"], "uid": metadata["uid"]},
            "target": {"kind": "Node", "name": node},
        }
        self._put_on(node, key_of(pod), pod)
        try:
            await self.client.post(PODS.part("binding"), metadata["name"], binding, namespace=metadata["namespace"])
        except errors.StatusError:
            self._take_off(key_of(pod), node)
            if await self.client.get(PODS, key_of(pod)) is not None:
                raise
            return
        text = f"Successfully assigned {metadata['namespace']}/{metadata['name']} to {node}"
        self._say(pod, "Scheduled", text, action="Binding")

    def _say(self, pod: Object, reason: str, text: str, *, action: str, is_warning: bool = False) -> None:
        about = events.reference(pod, "v1", "Pod")
        self.recorder.say(about, reason, text, is_warning=is_warning, host=_NAME, action=action)

    async def _tell(self, pod: Object, why: str) -> None:
        self._say(pod, "FailedScheduling", why, action="Scheduling", is_warning=True)

        def tell(present: Object) -> bool:
            condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": why}
            before = present.get("status") or {}
            status = {**before, "conditions": [dict(one) for one in before.get("conditions") or ()]}
            pod_conditions.put(status, condition, now=self.desk.now())
            present["status"] = status
            return status != before

        await self.client.change(PODS.part("status"), pod, tell)
