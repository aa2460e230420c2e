"""Simulation: what all parts of one simulated cluster share."""

from msgspec import Struct

from aio_apiserver.simulation.kubelet.container_worlds import ContainerWorlds
from aio_apiserver.simulation.processes.local_containers import LocalContainers


class Simulation(Struct, frozen=True):
    """The simulated cluster of a server: how many nodes it has, and the port of their kubelets.

    containers: those that run as processes of this machine, with --simulate-local-processes.
    """

    nodes: int
    kubelet_port: int
    containers: LocalContainers | None
    worlds: ContainerWorlds
