"""Nodes: makes the simulated nodes, keeps them ready, and renews their leases."""

from datetime import UTC, datetime

from msgspec import Struct

from aio_apiserver.controllers.decisions import nodes
from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.controllers.runtime.places import LEASES, NODES
from aio_apiserver.registry.base import errors
from aio_apiserver.storage.stored_object import Object

_NAMESPACE = "kube-node-lease"
_LEASE_SECONDS = 40
_RENEW_SECONDS, _LONGEST_RENEW_SECONDS = 10.0, 30.0
_RENEWALS_A_SECOND = 150
"""Thousands of nodes renew less often than a kubelet, but within the 50 seconds after which a node counts as lost."""


class Simulation(Struct, frozen=True):
    """The simulated cluster of a server: how many nodes it has, and the port of their kubelets."""

    nodes: int
    kubelet_port: int


class Nodes(Controller):
    """The queue keys are the numbers of nodes."""

    name = "simulated-nodes"
    workers = 32
    waits_for_writes = False

    def __init__(self, desk: Desk, simulation: Simulation, kubelet_version: str) -> None:
        super().__init__(desk)
        self._simulation = simulation
        self._kubelet_version = kubelet_version

    def begin(self) -> None:
        self.act_as("system:node-simulator", "system:nodes", manager="kubelet")
        self._nodes = self.follow(NODES)
        for number in range(self._simulation.nodes):
            self.queue.add(str(number))

    async def reconcile(self, key: str) -> float | None:
        number = int(key)
        node = self._nodes.get(nodes.name_of(number)) or await self._make(number)
        if not nodes.is_simulated(node):
            return None
        if not nodes.is_ready(node) or nodes.kubelet_port(node) != self._simulation.kubelet_port:
            await self.client.change(NODES.part("status"), node, lambda present: self._make_ready(present, number))
        if nodes.is_tainted(node):
            await self.client.change(NODES, node, nodes.remove_not_ready_taint)
        await self._renew(node)
        often = self._simulation.nodes / _RENEWALS_A_SECOND
        return min(max(_RENEW_SECONDS, often), _LONGEST_RENEW_SECONDS)

    async def _make(self, number: int) -> Object:
        try:
            made = {**nodes.make(number), "status": self._status(number)}
            return await self.client.create(NODES, made)
        except errors.AlreadyExists:
            present = await self.client.get(NODES, nodes.name_of(number))
            assert present is not None
            return present

    def _make_ready(self, node: Object, number: int) -> None:
        node["status"] = {**(node.get("status") or {}), **self._status(number)}

    def _status(self, number: int) -> Object:
        """The status of a ready node, which a kubelet reports when it registers."""
        return nodes.status(number, self._kubelet_version, self._simulation.kubelet_port, now=self.desk.now())

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
