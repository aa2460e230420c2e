"""Cluster: the list of the controllers that simulate a cluster."""

from collections.abc import Sequence

from aio_apiserver.controllers.runtime.controller import Controller, Desk
from aio_apiserver.simulation.kubelet.kubelet import SimulatedKubelet
from aio_apiserver.simulation.kubelet.simulation import Simulation
from aio_apiserver.simulation.nodes.nodes import Nodes
from aio_apiserver.simulation.nodes.outer_addresses import OuterAddresses
from aio_apiserver.simulation.nodes.provisioner import Provisioner
from aio_apiserver.simulation.scheduling.scheduler import Scheduler
from aio_apiserver.simulation.stages.player import StagePlayer
from aio_apiserver.simulation.stages.staged_kinds import StagedKinds


def controllers(desk: Desk, simulation: Simulation, version: str) -> Sequence[Controller]:
    """The controllers of one simulated cluster. version: the release of Kubernetes that its kubelets report."""
    staged = StagedKinds()
    stages = StagePlayer(desk, staged, version, simulation.kubelet_port)
    nodes, kubelet = Nodes(desk, simulation, version, staged), SimulatedKubelet(desk, staged, simulation)
    return [stages, nodes, Scheduler(desk), kubelet, Provisioner(desk, staged), OuterAddresses(desk)]
