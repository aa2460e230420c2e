"""Cluster functions: the functions of templates that ask the clock, the nodes and the addresses of pods."""

from collections.abc import Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.controller import Desk
from aio_apiserver.controllers.runtime.informers import Informer
from aio_apiserver.simulation.model import node_objects
from aio_apiserver.simulation.stages.pod_addresses import PodAddresses
from aio_apiserver.simulation.stages.template_functions import Function

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
