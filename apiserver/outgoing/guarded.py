"""Guarded: connections to hosts that clients name in objects, at global unicast addresses.

Must hold: the address that was checked is the address that is dialled. Each connection looks its name up once, since a
second answer could name this host (CVE-2020-8562).
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.connector import AddrInfoType

from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.groups.core.connections import unicast

UNKNOWN_HOST = (OSError, ValueError, OverflowError)
"""Lookups raise ValueError or OverflowError for invalid hosts."""
_WHY = "address not allowed"

Lookup = Callable[[str], Awaitable[Sequence[str]]]
"""The addresses of a name. Raises one of UNKNOWN_HOST."""


class NotAllowed(OSError):
    """The address is not allowed."""

    def __init__(self) -> None:
        super().__init__(_WHY)


async def system_lookup(host: str) -> Sequence[str]:
    """The addresses from the resolver of this machine."""
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class GuardedResolver(AbstractResolver):
    """Resolves names, and refuses names with an address that is not global unicast."""

    def __init__(self, lookup: Lookup = system_lookup) -> None:
        self._lookup = lookup

    async def addresses(self, host: str) -> Sequence[str]:
        """The addresses of a host. Raises BadRequest."""
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
        """The addresses in aiohttp's form."""
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
        """Nothing has to be closed."""


def guarded_socket(place: AddrInfoType) -> socket.socket:
    """The socket for an address: aiohttp dials numeric hosts without a resolver. Raises NotAllowed."""
    family, kind, protocol, _, address = place
    if not unicast.is_global(str(address[0])):
        raise NotAllowed
    return socket.socket(family, kind, protocol)
