"""Nodes: makes the simulated nodes, keeps them as their annotations say, and renews their leases.

Must hold: a silent node is not written. A node without annotations is ready. While Stages drive nodes, their status
is left to them.
"""

from datetime import UTC, datetime

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime import events
from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.controllers.runtime.pods_by_node import PodsByNode
from aio_apiserver.controllers.runtime.resources import LEASES, NODES, PODS
from aio_apiserver.registry.base import errors
from aio_apiserver.simulation.kubelet.simulation import Simulation
from aio_apiserver.simulation.model import node_objects, node_phases
from aio_apiserver.simulation.stages.stage import NODE
from aio_apiserver.simulation.stages.staged_kinds import StagedKinds

_NAMESPACE = "kube-node-lease"
_LEASE_SECONDS = 40
_RENEW_SECONDS, _LONGEST_RENEW_SECONDS = 10.0, 30.0
_RENEWALS_A_SECOND = 150
"""Thousands of nodes renew less often than a kubelet, but within the 50 seconds after which a node counts as lost."""


class Nodes(Controller):
    """The queue keys are the names of nodes."""

    name = "simulated-nodes"
    component = "kubelet"
    workers = 32
    waits_for_writes = False

    def __init__(self, desk: Desk, simulation: Simulation, kubelet_version: str, staged: StagedKinds) -> None:
        super().__init__(desk)
        self._staged = staged
        self._simulation = simulation
        self._kubelet_version = kubelet_version
        self._numbers = {node_objects.name_of(number): number for number in range(simulation.nodes)}
        """The numbers of the nodes that this simulation makes, and of those that users have made."""

    def begin(self) -> None:
        self.act_as("system:node-simulator", "system:nodes", manager="kubelet")
        for name in self._numbers:
            self.queue.add(name)
        self._pods = PodsByNode(self.follow(PODS))
        self._nodes = self.follow(NODES)
        self._nodes.listen(self._node_changed)
        self._staged.listen(self._add_all)

    def _add_all(self) -> None:
        """Queue all nodes, since Stages may have left them to this controller."""
        for name in self._nodes.items:
            self.queue.add(name)

    def _node_changed(self, name: str, before: Object | None, after: Object | None) -> None:
        if after is not None and (before is None or _state(before) != _state(after)):
            self.queue.add(name)

    async def reconcile(self, key: str) -> float | None:
        node = self._nodes.get(key) or await self._make(key)
        if node is None or not node_objects.is_simulated(node) or node_phases.is_silent(node):
            return None
        await self._report(node)
        if not node_phases.has_right_cordon(node):
            await self.client.change(NODES, node, node_phases.cordon)
        await self._renew(node)
        if node_phases.phase_of(node) == node_phases.DRAINED:
            await self._drain(node)
        often = len(self._numbers) / _RENEWALS_A_SECOND
        return min(max(_RENEW_SECONDS, often), _LONGEST_RENEW_SECONDS)

    async def _make(self, name: str) -> Object | None:
        """Make a node of this simulation; None for other nodes, which users make and delete."""
        number = self._numbers.get(name, self._simulation.nodes)
        if number >= self._simulation.nodes:
            return None
        try:
            made = {**node_objects.make(number), "status": self._status({}, number, is_ready=True)}
            return await self.client.create(NODES, made)
        except errors.AlreadyExists:
            return await self.client.get(NODES, name)

    def _status(self, present: Object, number: int, *, is_ready: bool) -> Object:
        """The status that a kubelet reports, also when it registers."""
        port, now = self._simulation.kubelet_port, self.desk.now()
        return node_objects.report(present, number, self._kubelet_version, port, now=now, is_ready=is_ready)

    async def _report(self, node: Object) -> None:
        """Report the readiness and the port of the kubelet."""
        if self._staged.has(NODE):
            await self._admit_pods(node, is_ready=node_objects.is_ready(node))
            return
        is_ready = node_phases.phase_of(node) != node_phases.NOT_READY
        if node_objects.is_ready(node) != is_ready or node_objects.kubelet_port(node) != self._simulation.kubelet_port:
            number = self._numbers.setdefault(node["metadata"]["name"], len(self._numbers))

            def report(present: Object) -> None:
                present["status"] = self._status(present.get("status") or {}, number, is_ready=is_ready)

            await self.client.change(NODES.part("status"), node, report)
            if is_ready:
                text = f"Node {node['metadata']['name']} status is now: NodeReady"
                self.recorder.say(events.reference(node, "v1", "Node"), "NodeReady", text)
        await self._admit_pods(node, is_ready=is_ready)

    async def _admit_pods(self, node: Object, *, is_ready: bool) -> None:
        if is_ready and node_objects.is_tainted(node):
            await self.client.change(NODES, node, node_objects.remove_not_ready_taint)

    async def _drain(self, node: Object) -> None:
        """Evict the pods of a node. Raises StatusError while a disruption budget forbids it."""
        for pod in node_phases.to_evict(self._pods.on(node["metadata"]["name"])):
            name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
            eviction: Object = {"metadata": {"name": name, "namespace": namespace}}
            await self.client.post(PODS.part("eviction"), name, eviction, namespace=namespace)

    async def _renew(self, node: Object) -> None:
        name = node["metadata"]["name"]
        now = datetime.fromtimestamp(self.desk.clock.now(), UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"holderIdentity": name, "leaseDurationSeconds": _LEASE_SECONDS, "renewTime": now}
        lease: Object = {"metadata": {"name": name, "namespace": _NAMESPACE}, "spec": spec}

        def renew(present: Object) -> None:
            present["spec"] = {**present["spec"], **spec}

        if await self.client.change(LEASES, lease, renew) is None:
            reference = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
            lease["metadata"]["ownerReferences"] = [reference]
            await self.client.create(LEASES, lease, namespace=_NAMESPACE)


def _state(node: Object) -> tuple[str, bool, bool]:
    """The parts of a node that concern its kubelet."""
    return node_phases.phase_of(node), node_objects.is_ready(node), node_objects.is_simulated(node)
