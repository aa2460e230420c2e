"""component_probes: the seam to the scheduler and controller manager, whose health ComponentStatus shows.

Who asks them over the network is not known here.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple


class Unhealthy(Exception):
    """A component does not answer; the message says why, in the words of Go's client."""


class ProbeAnswer(NamedTuple):
    """What a component has answered at /healthz."""

    status: int
    body: str


Probe = Callable[[int], Awaitable[ProbeAnswer]]
"""Asks the component at a port of this machine. Raises Unhealthy."""


async def probe_nothing(port: int) -> ProbeAnswer:
    """The Probe of a registry without a network."""
    address = f"127.0.0.1:{port}"
    raise Unhealthy(f'Get "https://{address}/healthz": dial tcp {address}: connect: connection refused')
