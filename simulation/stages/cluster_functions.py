"""Cluster functions: the functions of templates that ask the clock, the nodes and the addresses of pods.

Must hold: a pod keeps its address; two living pods have different ones.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.controller import Desk
from aio_apiserver.controllers.runtime.informers import Informer
from aio_apiserver.simulation.model import node_objects
from aio_apiserver.simulation.stages.template_functions import Function


class PodAddresses:
    """The addresses by the uid of the pod."""

    def __init__(self) -> None:
        self._by_uid: dict[str, str] = {}
        self._taken: set[str] = set()
        self._given: Counter[str] = Counter()
        """The number of addresses that each node has assigned."""

    def of(self, uid: str, node: Object) -> str:
        """The address of a pod on a node."""
        if uid not in self._by_uid:
            name = node["metadata"]["name"]
            self._keep(uid, node_objects.free_address(node, self._taken, self._given[name]))
            self._given[name] += 1
        return self._by_uid[uid]

    def hear(self, before: Object | None, after: Object | None) -> None:
        """Take note of a pod that has changed."""
        if before is not None and (after is None or before["metadata"]["uid"] != after["metadata"]["uid"]):
            self._taken.discard(self._by_uid.pop(before["metadata"]["uid"], ""))
        if after is not None and (address := (after.get("status") or {}).get("podIP")):
            self._keep(after["metadata"]["uid"], address)

    def _keep(self, uid: str, address: str) -> None:
        self._by_uid[uid] = address
        self._taken.add(address)


_ADDRESS = "127.0.0.1"
"""The address of the simulated kubelets, for nodes that have none yet."""


class ClusterFunctions:
    """The functions for objects of one simulated cluster."""

    def __init__(self, desk: Desk, version: str, kubelet_port: int) -> None:
        self._desk = desk
        self._version = version
        self._kubelet_port = kubelet_port
        self._start = desk.now()
        self.addresses = PodAddresses()

    def functions_for(self, obj: Object, known: Informer) -> Mapping[str, Function]:
        """The functions for a template of this object. `known`: the nodes."""

        def node_address(name: str = "") -> str:
            node = known.get(name or obj["metadata"]["name"])
            return (node_objects.address(node) if node is not None else "") or _ADDRESS

        def pod_address(node: str = "", on_host: bool = False, uid: str = "", *_names: Any) -> str:
            found = known.get(node)
            if on_host or found is None:
                return node_address(node)
            return self.addresses.of(uid, found)

        def own_address() -> str:
            spec = obj.get("spec") or {}
            on_host = bool(spec.get("hostNetwork"))
            return pod_address(spec.get("nodeName", ""), on_host, obj["metadata"]["uid"])

        return {
            "Now": self._desk.now,
            "StartTime": lambda: self._start,
            "Version": lambda: self._version,
            "NodeName": lambda: obj["metadata"]["name"],
            "NodePort": lambda: self._kubelet_port,
            "NodeIP": node_address,
            "NodeIPs": lambda: [node_address()],
            "NodeIPWith": node_address,
            "NodeIPsWith": lambda name: [node_address(name)],
            "PodIP": own_address,
            "PodIPs": lambda: [own_address()],
            "PodIPWith": pod_address,
            "PodIPsWith": lambda *about: [pod_address(*about)],
        }
