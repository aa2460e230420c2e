"""Pod garbage: deletes pods on missing nodes, terminating pods without a node, and finished pods above a limit."""

from collections.abc import Collection, Sequence
from functools import partial

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.controllers.runtime.resources import NODES, PODS
from aio_apiserver.registry.groups.core.pods.pod_conditions import is_ready, put

_FINISHED = "finished"
"""The queue key for all finished pods. Keys of pods contain a namespace."""


class PodGarbageCollector(Controller):
    """Marks pods as failed, and deletes them without a grace period."""

    name = "pod-garbage-collector-controller"
    account = "pod-garbage-collector"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._finished: dict[str, Object] = {}
        self._on: dict[str, set[str]] = {}
        """The keys of pods by node."""
        self._missing: dict[str, float] = {}
        """Since when a node with pods is missing."""

    def begin(self) -> None:
        self._nodes = self.follow(NODES)
        self._nodes.listen(self._node_changed)
        self._pods = self.follow(PODS, lambda pod: key_of(pod) if self._wants_a_look(pod) else "")
        self._pods.listen(self._pod_changed)

    def _wants_a_look(self, pod: Object) -> bool:
        node = node_of(pod)
        return podrules.is_ending(pod) or bool(node and self._nodes.get(node) is None)

    def _node_changed(self, name: str, _before: Object | None, after: Object | None) -> None:
        if after is not None:
            self._missing.pop(name, None)
        for key in self._on.get(name, ()):
            pod = self._pods.get(key)
            if pod is not None and self._wants_a_look(pod):
                self.queue.add(key)

    def _pod_changed(self, key: str, before: Object | None, after: Object | None) -> None:
        self._note_node(key, before, after)
        self._finished.pop(key, None)
        if after is not None and podrules.is_finished(after):
            self._finished[key] = after
            if len(self._finished) > MOST_FINISHED:
                self.queue.add(_FINISHED)

    def _note_node(self, key: str, before: Object | None, after: Object | None) -> None:
        was, now = (node_of(pod) if pod is not None else "" for pod in (before, after))
        if was and was != now:
            self._on[was].discard(key)
            if not self._on[was]:
                del self._on[was]
        if now:
            self._on.setdefault(now, set()).add(key)

    async def _remove_superfluous(self) -> None:
        """Remove the finished pods above the limit."""
        finished = list(self._finished.values())
        for pod in await self.work(partial(superfluous, finished), len(finished)):
            await self._remove(pod, is_lost=False)

    async def reconcile(self, key: str) -> float | None:
        if key == _FINISHED:
            await self._remove_superfluous()
            return None
        pod = self._pods.get(key)
        if pod is None:
            return None
        name = node_of(pod)
        node = self._nodes.get(name)
        if is_stuck(pod, node):
            await self._remove(pod, is_lost=False)
        elif name and node is None:
            return await self._miss(pod, name)
        return None

    async def _miss(self, pod: Object, node: str) -> float | None:
        """Wait for a missing node to come back; after that time, remove its pods."""
        now = self.desk.clock.monotonic()
        left = self._missing.setdefault(node, now) + QUARANTINE_SECONDS - now
        if left > 0:
            return left
        if await self.client.get(NODES, node) is None:
            await self._remove(pod, is_lost=True)
        return None

    async def _remove(self, pod: Object, *, is_lost: bool) -> None:
        now = self.desk.now()
        await self.client.change(PODS.part("status"), pod, lambda present: fail(present, is_lost=is_lost, now=now))
        await self.client.delete(PODS, pod, grace=0)


MOST_FINISHED = 12_500
"""kube-controller-manager's --terminated-pod-gc-threshold."""
QUARANTINE_SECONDS = 40.0
"""The time for which a node may be missing before its pods are deleted."""
_OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"


def node_of(pod: Object) -> str:
    return str(pod["spec"].get("nodeName") or "")


def is_stuck(pod: Object, node: Object | None) -> bool:
    """Whether a terminating pod has no kubelet that could finish it."""
    if not pods.is_ending(pod):
        return False
    return not node_of(pod) or (node is not None and _is_out_of_service(node))


def _is_out_of_service(node: Object) -> bool:
    return not is_ready(node) and any(one["key"] == _OUT_OF_SERVICE for one in node["spec"].get("taints") or ())


def superfluous(finished: Collection[Object], most: int = MOST_FINISHED) -> Sequence[Object]:
    """The finished pods above the limit: evicted ones first, then the oldest."""
    excess = len(finished) - most
    return sorted(finished, key=_rank)[:excess] if excess > 0 else ()


def _rank(pod: Object) -> tuple[bool, str, str]:
    metadata = pod["metadata"]
    is_evicted = pods.phase(pod) == "Failed" and pod["status"].get("reason") == "Evicted"
    return not is_evicted, metadata["creationTimestamp"], metadata["name"]


def fail(pod: Object, *, is_lost: bool, now: str) -> bool:
    """Mark a pod as failed, in place. Returns whether it changed."""
    if pods.is_finished(pod):
        return False
    status = dict(pod.get("status") or {})
    status["phase"] = "Failed"
    if is_lost:
        status["conditions"] = [dict(one) for one in status.get("conditions") or ()]
        lost = {"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC"}
        put(status, {**lost, "message": "PodGC: node no longer exists"}, now=now)
    pod["status"] = status
    return True
