"""Guarded connections: hosts that objects name, reached only at unicast addresses of the network.

Must hold: the address that was judged is the address that is dialled; a name is looked up once for each connection,
since another answer could lead to this host (CVE-2020-8562).
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import AddrInfoType

from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.groups.core import unicast

UNKNOWN_HOST = (OSError, ValueError, OverflowError)
"""Hosts that are none fail as values."""
_WHY = "address not allowed"

Lookup = Callable[[str], Awaitable[Sequence[str]]]
"""The addresses of a name. Raises one of UNKNOWN_HOST."""


class NotAllowed(OSError):
    """An address that is not dialled."""

    def __init__(self) -> None:
        super().__init__(_WHY)


async def system_lookup(host: str) -> Sequence[str]:
    """The addresses that this machine's resolver knows."""
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class GuardedResolver(AbstractResolver):
    """Looks names up, and refuses those that mean any other address."""

    def __init__(self, lookup: Lookup = system_lookup) -> None:
        self._lookup = lookup

    async def addresses(self, host: str) -> Sequence[str]:
        """Where to dial. Raises BadRequest."""
        try:
            found = await self._lookup(host)
        except UNKNOWN_HOST as exc:
            raise BadRequest(f"lookup {host}: no such host") from exc
        if not found or not all(map(unicast.is_global, found)):
            raise BadRequest(_WHY)
        return found

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """What aiohttp dials."""
        found = await self.addresses(host)
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
            for address in found
            if family is socket.AF_UNSPEC or (":" in address) == (family is socket.AF_INET6)
        ]

    async def close(self) -> None:
        """There is nothing to close."""


def guarded_socket(place: AddrInfoType) -> socket.socket:
    """The socket for an address: hosts that look like addresses are dialled without a resolver. Raises NotAllowed."""
    family, kind, protocol, _, address = place
    if not unicast.is_global(str(address[0])):
        raise NotAllowed
    return socket.socket(family, kind, protocol)
