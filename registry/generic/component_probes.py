"""component_probes: the contract for the health checks of scheduler and controller manager, for ComponentStatus.

apiserver/outgoing/documents.py makes the HTTP requests.
"""

from collections.abc import Awaitable, Callable, Collection
from http import HTTPStatus
from typing import NamedTuple

CONTROLLER_MANAGER_PORT, SCHEDULER_PORT = 10257, 10259


class Unhealthy(Exception):
    """A component does not answer; the message is in Go's words."""


class ProbeAnswer(NamedTuple):
    """The answer of a component at /healthz."""

    status: int
    body: str


Probe = Callable[[int], Awaitable[ProbeAnswer]]
"""Checks the component at a port of this machine. Raises Unhealthy."""


async def probe_nothing(port: int) -> ProbeAnswer:
    """The Probe of a registry without a network."""
    address = f"127.0.0.1:{port}"
    raise Unhealthy(f'Get "https://{address}/healthz": dial tcp {address}: connect: connection refused')


def within_process(ports: Collection[int], probe: Probe) -> Probe:
    """A Probe that finds the components of these ports in this process, and asks another Probe for the others."""

    async def check(port: int) -> ProbeAnswer:
        return ProbeAnswer(HTTPStatus.OK, "ok") if port in ports else await probe(port)

    return check
