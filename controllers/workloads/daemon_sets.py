"""Daemon sets: keeps one pod of a DaemonSet on each node that accepts it."""

from functools import partial

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import pods as podrules
from aio_apiserver.controllers.runtime.client import key_of
from aio_apiserver.controllers.runtime.resources import DAEMON_SETS, NODES
from aio_apiserver.controllers.workloads import daemon_set_pods as rules
from aio_apiserver.controllers.workloads import revisions
from aio_apiserver.controllers.workloads.revision_keeper import RevisionKeeper


class DaemonSetController(RevisionKeeper):
    """It also follows nodes."""

    name = "daemonset-controller"
    account = "daemon-set-controller"
    place = DAEMON_SETS
    kind = "DaemonSet"
    most_at_once = 250

    def begin(self) -> None:
        super().begin()
        self._nodes = self.follow(NODES)
        self._nodes.listen(self._node_changed)

    def _node_changed(self, _key: str, before: Object | None, after: Object | None) -> None:
        if before is not None and after is not None and _demands(before) == _demands(after):
            return
        for owner in self.owners.items.values():
            self.queue.add(key_of(owner))

    async def reconcile(self, key: str) -> float | None:
        owner = self.owner(key)
        if owner is None:
            return None
        by_node: dict[str, list[Object]] = {}
        for pod in await self.claim(owner):
            by_node.setdefault(rules.node_of(pod), []).append(pod)
        revision = await self.present_revision(owner)
        hashed = revision["metadata"]["labels"][revisions.LABEL]
        nodes, now = list(self._nodes.items.values()), self.desk.clock.now()
        look = partial(rules.situation, owner, by_node, nodes, hashed, now=now)
        situation = await self.work(look, len(nodes))
        await self.report(owner, await self.work(situation.status, len(nodes)))
        if not podrules.is_ending(owner):
            plan = await self.work(situation.plan, len(nodes))
            await self.make(owner, [rules.pod_of(owner, node, hashed) for node in self.first(owner, plan.make)])
            gone = self.first(owner, plan.delete)
            for pod in gone:
                self._say_finished(owner, pod)
            await self.delete(owner, gone)
        pods = [pod for some in by_node.values() for pod in some]
        await self.forget_old(owner, {hashed, *map(rules.generation_hash, pods)})
        waits = any(podrules.ready_since(pod) is not None and not situation.is_available(pod) for pod in pods)
        return float(situation.minimum) if waits and situation.minimum else None

    def _say_finished(self, owner: Object, pod: Object) -> None:
        phase = podrules.phase(pod)
        if phase not in ("Failed", "Succeeded"):
            return
        metadata, is_failure = pod["metadata"], phase == "Failed"
        where = f"daemon pod {metadata['namespace']}/{metadata['name']} on node {rules.node_of(pod)}"
        text = f"Found {phase.lower()} {where}, will try to {'kill' if is_failure else 'delete'} it"
        self.say(owner, f"{phase}DaemonPod", text, is_warning=is_failure)


def _demands(node: Object) -> tuple[object, ...]:
    """The facts of a node that decide which pods it accepts."""
    spec = node["spec"]
    return node["metadata"].get("labels"), spec.get("taints"), spec.get("unschedulable")
