"""Advertising: the address and port of this server in the endpoints of the service `kubernetes`.

Pure but for one look at the routing table of the machine.
"""

import socket
from ipaddress import ip_address

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.registry.controlplane.bootstrap.kubernetes_service import Advertised

_RESERVED = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses reserved for documentation (RFC 5737, RFC 3849). Only the route to them is looked up; nothing is sent."""
_ANY_PORT = 9


def advertised(settings: Settings, port: int) -> Advertised:
    """The cluster IP of the service `kubernetes`, and the address and port of this server in its endpoints."""
    network = settings.service_cluster_ip_range[0]
    return Advertised(service_address=str(network[1]), address=_address(settings, network.version), port=port)


def _address(settings: Settings, version: int) -> str:
    """The first address that is allowed in an endpoint: of the flags first, then of the machine's routes. Empty without
    one.
    """
    candidates = (settings.advertise_address, settings.bind_address, _routed_address(version))
    return next((candidate for candidate in candidates if candidate and _is_presentable(candidate)), "")


def _is_presentable(address: str) -> bool:
    parsed = ip_address(address)
    return not (parsed.is_unspecified or parsed.is_loopback or parsed.is_link_local or parsed.is_multicast)


def _routed_address(version: int) -> str:
    """The source address of this machine for connections to other networks; empty without a route."""
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_RESERVED[family], _ANY_PORT))
        except OSError:
            return ""
        address: str = probe.getsockname()[0]
        return address
