"""dialer: TCP and TLS connections to the locations of relayed requests, for single requests and for upgraded streams.

It does not know which certificate a server must show: a Peer says that. Must hold: the dialer follows no redirect,
sends no header and no cookie of its own, and decompresses no answer. A guarded location is dialled only at addresses
that guarded.py allows.
"""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Sequence

import aiohttp
from aiohttp import ClientResponse, hdrs
from msgspec import Struct
from multidict import CIMultiDict
from yarl import URL

from aio_apiserver.apiserver.outgoing import answer_connections, guarded
from aio_apiserver.apiserver.outgoing.answer_connections import FLUSH_SECONDS, BoundedConnector
from aio_apiserver.apiserver.outgoing.guarded import GuardedResolver, Lookup
from aio_apiserver.registry.base.locations import Location

UNREACHABLE = (OSError, ValueError, OverflowError)
"""What dialling raises. A host or port that is not valid raises one of the last two."""
_STREAM_LIMIT = 64 * 1024
_NO_HEADERS_OF_OURS = (hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE)

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Peer(Struct, frozen=True):
    """How a server proves its name. name: the name in its certificate, if that is not the host of the location."""

    tls: ssl.SSLContext | None = None
    name: str | None = None


class Dialer:
    """Connects within some seconds, and keeps the connections of requests for the next request."""

    def __init__(self, seconds: float, *, lookup: Lookup = guarded.system_lookup) -> None:
        self._seconds = seconds
        self._resolver = GuardedResolver(lookup)
        self._sessions: dict[bool, aiohttp.ClientSession] = {}
        """By whether their hosts are guarded."""

    async def close(self) -> None:
        """Close every connection."""
        for session in self._sessions.values():
            await session.close()

    async def request(
        self,
        location: Location,
        peer: Peer,
        method: str,
        url: str,
        *,
        headers: CIMultiDict[str],
        body: AsyncIterator[bytes] | None,
    ) -> ClientResponse:
        """The head of the answer to a request. Raises UNREACHABLE, aiohttp.ClientError."""
        return await self._session(is_guarded=location.is_guarded).request(
            method,
            URL(url, encoded=True),
            headers=headers,
            data=body,
            ssl=peer.tls or True,
            server_hostname=peer.name,
            allow_redirects=False,
        )

    async def open(self, location: Location, peer: Peer) -> Streams:
        """A connection to a location. Raises UNREACHABLE, BadRequest."""
        hosts = await self._resolver.addresses(location.host) if location.is_guarded else (location.host,)
        return await asyncio.wait_for(_first(hosts, location, peer), self._seconds)

    def _session(self, *, is_guarded: bool) -> aiohttp.ClientSession:
        if is_guarded not in self._sessions:
            self._sessions[is_guarded] = answer_connections.session(
                self._guarded() if is_guarded else BoundedConnector(),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._seconds),
                skip_auto_headers=_NO_HEADERS_OF_OURS,
            )
        return self._sessions[is_guarded]

    def _guarded(self) -> BoundedConnector:
        return BoundedConnector(resolver=self._resolver, use_dns_cache=False, socket_factory=guarded.guarded_socket)


def close(streams: Streams) -> None:
    """Close an opened connection. A server that does not read the rest of what it was sent has a few seconds for it."""
    streams[1].close()
    asyncio.get_running_loop().call_later(FLUSH_SECONDS, streams[1].transport.abort)


async def _first(hosts: Sequence[str], location: Location, peer: Peer) -> Streams:
    """A connection to the first of the hosts that accepts one. Raises UNREACHABLE."""
    for host in hosts[:-1]:
        with contextlib.suppress(*UNREACHABLE):
            return await _connected(host, location, peer)
    return await _connected(hosts[-1], location, peer)


async def _connected(host: str, location: Location, peer: Peer) -> Streams:
    port, name = location.port or location.scheme, (peer.name or location.host) if peer.tls is not None else None
    return await asyncio.open_connection(host, port, ssl=peer.tls, server_hostname=name, limit=_STREAM_LIMIT)
