"""The kubelet of nodes that are not there: pods start, run, end and go, by the rules in their annotations."""

from apiserver.controllers.client import key_of
from apiserver.controllers.controller import Controller, Desk
from apiserver.controllers.places import NODES, PODS
from registry.controllers import nodes
from registry.controllers import pods as podrules
from registry.controllers.pod_phases import Life, rules_of
from storage.stored_object import Object


class Kubelet(Controller):
    """Of all simulated nodes."""

    name = "simulated-kubelet"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._seen: dict[str, float] = {}
        """Since when a pod is here, by its uid."""
        self._ending: dict[str, float] = {}
        self._addresses: dict[str, int] = {}
        """How many pods a node has had."""

    def begin(self) -> None:
        self.act_as("system:node-simulator", "system:nodes", manager="kubelet")
        self._pods = self.follow(PODS, lambda pod: key_of(pod) if pod["spec"].get("nodeName") else "")
        self._nodes = self.follow(NODES)
        self._nodes.listen(lambda _key, before, _after: self._look_at_all() if before is None else None)

    def _look_at_all(self) -> None:
        """Pods may have been bound to a node before it showed."""
        for key, pod in self._pods.items.items():
            if pod["spec"].get("nodeName"):
                self.queue.add(key)

    async def reconcile(self, key: str) -> float | None:
        pod = self._pods.get(key)
        node = self._nodes.get(pod["spec"].get("nodeName", "")) if pod is not None else None
        if pod is None or node is None or not nodes.is_simulated(node):
            return None
        if podrules.is_ending(pod):
            return await self._end(pod)
        if podrules.is_finished(pod):
            self._seen.pop(pod["metadata"]["uid"], None)
            return None
        return await self._live(pod, node)

    async def _live(self, pod: Object, node: Object) -> float | None:
        age = self._age(pod, self._seen)
        life = Life(pod, age, self.desk.now(), nodes.address(node), self._address(pod, node))
        status = life.status()

        def tell(present: Object) -> bool:
            if podrules.is_ending(present) or present.get("status") != pod.get("status"):
                return False  # it has changed meanwhile, and is looked at again
            present["status"] = status
            return True

        if status != pod.get("status"):
            await self.client.change(PODS.part("status"), pod, tell)
        return life.next_look

    def _age(self, pod: Object, since: dict[str, float]) -> float:
        now = self.desk.clock.monotonic()
        return now - since.setdefault(pod["metadata"]["uid"], now)

    def _address(self, pod: Object, node: Object) -> str:
        if pod["spec"].get("hostNetwork"):
            return nodes.address(node)
        if (pod.get("status") or {}).get("podIP"):
            return str(pod["status"]["podIP"])
        name = node["metadata"]["name"]
        number = self._addresses[name] = self._addresses.get(name, -1) + 1
        return nodes.pod_address(node, number)

    async def _end(self, pod: Object) -> float | None:
        uid = pod["metadata"]["uid"]
        left = rules_of(pod).stop - self._age(pod, self._ending)
        if left > 0:
            return left
        await self.client.delete(PODS, pod, grace=0)
        self._ending.pop(uid, None)
        self._seen.pop(uid, None)
        return None
