"""How others reach this server: the address and port that it advertises to the cluster."""

import socket
from ipaddress import ip_address

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.registry.controlplane.bootstrap.kubernetes_service import Advertised

_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses that are nobody's (RFC 5737, RFC 3849): only the route to them is looked up, nothing is sent."""
_ANY_PORT = 9


def advertised(settings: Settings, port: int) -> Advertised:
    """What the service `kubernetes` says of this server."""
    network = settings.service_cluster_ip_range[0]
    return Advertised(service_address=str(network[1]), address=_address(settings, network.version), port=port)


def _address(settings: Settings, version: int) -> str:
    """The first that may stand in an endpoint: what is set, and then what the machine's routes say; or none."""
    candidates = (settings.advertise_address, settings.bind_address, _routed_address(version))
    return next((candidate for candidate in candidates if candidate and _is_presentable(candidate)), "")


def _is_presentable(address: str) -> bool:
    parsed = ip_address(address)
    return not (parsed.is_unspecified or parsed.is_loopback or parsed.is_link_local or parsed.is_multicast)


def _routed_address(version: int) -> str:
    """This machine's own address on the way to others."""
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_ELSEWHERE[family], _ANY_PORT))
        except OSError:
            return ""
        address: str = probe.getsockname()[0]
        return address
