"""Opening: starts the server of the simulated kubelet on loopback.

Must hold: it answers requests with the client certificate that the server itself shows, and no others.
"""

from contextlib import AsyncExitStack

from aiohttp import web

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.outgoing.backends import SIMULATED_KUBELET_CLIENT
from aio_apiserver.apiserver.simulated_kubelet.endpoints import KubeletEndpoints
from aio_apiserver.apiserver.simulated_kubelet.simulated import SimulatedFunctions
from aio_apiserver.apiserver.tls import client_certificates, contexts
from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.apiserver.tls.client_certificates import Authorities, Untrusted
from aio_apiserver.apiserver.wire.connections import HTTPConnection
from aio_apiserver.apiserver.wire.listeners import Listener
from aio_apiserver.base.clock import Clock
from aio_apiserver.controllers.runtime.client import ControllerClient
from aio_apiserver.simulation.kubelet.container_worlds import ContainerWorlds
from aio_apiserver.simulation.kubelet.simulation import Simulation
from aio_apiserver.simulation.processes.local_containers import LocalContainers

_LOOPBACK = "127.0.0.1"
_GRACE_SECONDS = 0.25


async def open_simulated_kubelet(
    settings: Settings,
    pki: Pki,
    client: ControllerClient,
    clock: Clock,
    functions: SimulatedFunctions,
    *,
    stack: AsyncExitStack,
) -> Simulation:
    """Listen on a free port of loopback. Raises OSError."""
    trusted = client_certificates.authorities_in([pki.ca.certificate.read_bytes()])

    def is_server(request: web.BaseRequest) -> bool:
        return _has_certificate(request, trusted, clock.patience.now())

    worlds = ContainerWorlds(client, clock)
    containers = LocalContainers(worlds, clock) if settings.simulate_local_processes else None
    if containers is not None:
        stack.push_async_callback(containers.close)
    endpoints = KubeletEndpoints(worlds, clock, functions, is_server, containers)
    listener = await Listener.open(endpoints.handle, _LOOPBACK, 0, tls=contexts.ServingTLS(settings, pki).context)
    stack.push_async_callback(listener.close, _GRACE_SECONDS)
    return Simulation(settings.simulate_nodes, listener.port, containers, worlds)


def _has_certificate(request: web.BaseRequest, trusted: Authorities, now: float) -> bool:
    """Whether the client has the certificate that the server shows to simulated kubelets."""
    connection = request.protocol
    certificate = connection.certificate if isinstance(connection, HTTPConnection) else None
    if certificate is None or certificate.common_name != SIMULATED_KUBELET_CLIENT:
        return False
    try:
        certificate.check(trusted, now)
    except Untrusted:
        return False
    return True
