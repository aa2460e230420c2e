"""Disruptions: keeps the status of pod disruption budgets: how many pods may be evicted now."""

from collections.abc import Sequence

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller, if_same
from aio_apiserver.controllers.runtime.resources import (
    DEPLOYMENTS,
    DISRUPTION_BUDGETS,
    PODS,
    REPLICA_SETS,
    REPLICATION_CONTROLLERS,
    STATEFUL_SETS,
)
from aio_apiserver.controllers.workloads import disruption_budgets as disruptions
from aio_apiserver.controllers.workloads.rollouts import replicas
from aio_apiserver.registry.base.validation.label_selectors import selects
from aio_apiserver.registry.generic.in_process_client import ResourcePath

_OWNERS = {
    "Deployment": DEPLOYMENTS,
    "ReplicaSet": REPLICA_SETS,
    "StatefulSet": STATEFUL_SETS,
    "ReplicationController": REPLICATION_CONTROLLERS,
}


class DisruptionController(Controller):
    """Keeps the status of budgets."""

    name = "disruption-controller"
    component = "controllermanager"

    def begin(self) -> None:
        self._budgets = self.follow(DISRUPTION_BUDGETS, key_of)
        self._owners = {kind: self.follow(place) for kind, place in _OWNERS.items()}
        self._pods = self.follow(PODS)
        self._pods.listen(self._pod_changed)
        for informer in self._owners.values():
            informer.listen(self._owner_changed)

    def _pod_changed(self, _key: str, before: Object | None, after: Object | None) -> None:
        for pod in filter(None, (before, after)):
            for budget in self._budgets.in_namespace(pod["metadata"]["namespace"]):
                if selects(budget["spec"].get("selector"), pod["metadata"].get("labels") or {}):
                    self.queue.add(key_of(budget))

    def _owner_changed(self, _key: str, before: Object | None, after: Object | None) -> None:
        if before is not None and after is not None and replicas(before) == replicas(after):
            return
        namespace = (after or before or {})["metadata"]["namespace"]
        for budget in self._budgets.in_namespace(namespace):
            self.queue.add(key_of(budget))

    async def reconcile(self, key: str) -> float | None:
        budget = self._budgets.get(key)
        if budget is None:
            return None
        namespace, selector = budget["metadata"]["namespace"], budget["spec"].get("selector")
        members = [
            pod
            for pod in self._pods.in_namespace(namespace)
            if not podrules.is_finished(pod) and selects(selector, pod["metadata"].get("labels") or {})
        ]
        if not members:
            about = events.reference(budget, "policy/v1", "PodDisruptionBudget")
            self.recorder.say(about, "NoPods", "No matching pods found")
        expected = await self._expected(namespace, members)
        now = self.desk.clock.now()
        status = disruptions.status(budget, members, expected, now=now, shown=self.desk.now())

        def tell(present: Object) -> bool:
            is_right = present.get("status") == status
            present["status"] = status
            return not is_right

        if budget.get("status") != status:
            # an eviction may have noted a pod since, which must not be lost
            await self.client.change(DISRUPTION_BUDGETS.part("status"), budget, if_same(budget, tell))
        return 30.0 if status.get("disruptedPods") else None

    async def _expected(self, namespace: str, members: Sequence[Object]) -> int:
        """The sum of the replicas of all owners of some pods. Each owner counts once; a custom one is asked for its
        scale.
        """
        wanted: dict[str, int] = {}
        for pod in members:
            reference = podrules.controller_of(pod)
            if not reference or reference["uid"] in wanted:
                continue
            kind, name, uid = reference["kind"], reference["name"], reference["uid"]
            owner = self._owner(kind, f"{namespace}/{name}")
            above = podrules.controller_of(owner) if owner is not None else {}
            if above.get("kind") == "Deployment":
                uid, owner = above["uid"], self._owner("Deployment", f"{namespace}/{above['name']}")
            if owner is not None:
                wanted[uid] = replicas(owner)
            elif kind not in self._owners:
                wanted[uid] = await self._scale(reference["apiVersion"], kind, f"{namespace}/{name}")
        return sum(wanted.values())

    def _owner(self, kind: str, key: str) -> Object | None:
        return self._owners[kind].get(key) if kind in self._owners else None

    async def _scale(self, api_version: str, kind: str, key: str) -> int:
        group, _, version = api_version.rpartition("/")
        for place in self.client.resources("get"):
            if place.group == group and self.client.at(place).kind.kind == kind:
                path = ResourcePath(group, version, place.path).part("scale")
                if self.client.served.get(path) is None:
                    return 0
                scale = await self.client.get(path, key)
                return int((scale or {}).get("spec", {}).get("replicas", 0))
        return 0
