"""component_probes: the contract for the health checks of scheduler and controller manager, for ComponentStatus.

apiserver/outgoing/documents.py makes the HTTP requests.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple


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
