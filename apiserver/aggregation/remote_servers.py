"""remote_servers: the aggregated servers behind APIServices: their locations, TLS and documents.

The gateway imports it when the first such APIService is there. Must hold: a server shows a certificate for the name of
its service, signed by the CA bundle of its APIService. insecureSkipTLSVerify in the APIService accepts any other one.
The server sees the newest certificate of --proxy-client-cert-file.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from aiohttp import hdrs
from multidict import CIMultiDict

from aio_apiserver.apiserver.aggregation.proxy_certificate import ProxyCertificate
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.outgoing import forwarded_headers
from aio_apiserver.apiserver.outgoing.dialer import Dialer, Peer
from aio_apiserver.apiserver.outgoing.relay_client import (
    InvalidAnswerStatus,
    RelayClient,
    RelayedAnswer,
    Unreachable,
)
from aio_apiserver.apiserver.tls import bundles
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.locations import Location, Passage
from aio_apiserver.registry.groups.apiregistration.registrations import Registration
from aio_apiserver.registry.groups.apiregistration.service_resolver import Resolver, Unresolved

_DISCOVERY_SECONDS = 5.0
_CONNECT_SECONDS = 30.0
_MORE_TRIES = 4
_MOST_BYTES = 8 * 1024 * 1024
"""The OpenAPI document of kube-apiserver has 4.5 MB."""
_WELL = range(200, 300)
AGGREGATOR = (("X-Remote-User", "system:kube-aggregator"), ("X-Remote-Group", "system:masters"))
"""The user of requests that this server makes itself."""


class ServerDocument(NamedTuple):
    """A response that was read whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class RemoteServers:
    """The connections to the servers of all registrations."""

    def __init__(self, settings: Settings, resolver: Resolver, certificate: ProxyCertificate) -> None:
        self._settings = settings
        self._certificate = certificate
        self._forwarding = forwarded_headers.of(settings)
        self._resolver = resolver
        self._dialer = Dialer(_CONNECT_SECONDS)

    async def close(self) -> None:
        """Close every connection."""
        await self._dialer.close()

    async def location(
        self, registration: Registration, path: str, headers: Sequence[tuple[str, str]] = ()
    ) -> Location:
        """The location of a path at the server. Raises Unresolved."""
        address = await self._resolver.resolve(registration.namespace, registration.service, registration.port)
        return Location(
            passage=Passage.PROXY,
            scheme="https",
            host=address.host,
            port=str(address.port),
            path=path,
            headers=headers,
            refuses_redirects=self._settings.aggregator_reject_forwarding_redirect,
        )

    def of(self, registration: Registration) -> RelayClient:
        """The client of a registration's server, for requests and tunnels. Raises NoTrust."""
        authorities, is_unverified = registration.authorities, registration.is_unverified
        tls = bundles.presenting(authorities, self._certificate.pem, is_unverified=is_unverified)
        peer = Peer(tls, registration.host)
        return RelayClient(self._dialer, self._forwarding, lambda _location: peer)

    async def check(self, registration: Registration) -> str:
        """The failure of a request for the discovery document; empty when one of several tries succeeds."""
        failure = await self._failure(registration)
        if not failure:
            return ""
        others = await asyncio.gather(*(self._failure(registration) for _ in range(_MORE_TRIES)))
        return failure if all(others) else ""

    async def request(
        self,
        registration: Registration,
        path: str,
        *,
        headers: Mapping[str, str],
        method: str = hdrs.METH_GET,
        user: Sequence[tuple[str, str]] = AGGREGATOR,
        seconds: float = _DISCOVERY_SECONDS,
    ) -> ServerDocument:
        """The answer of a server, for the user that some headers name. Raises Unreachable."""
        sent_headers = CIMultiDict([*user, *headers.items()])
        async with self._answered(registration, path, method, sent_headers, seconds) as answer:
            return ServerDocument(answer.status, dict(answer.headers), await _read(answer))

    @asynccontextmanager
    async def _answered(
        self, registration: Registration, path: str, method: str, headers: CIMultiDict[str], seconds: float
    ) -> AsyncIterator[RelayedAnswer]:
        """An answer whose body is still to be read, within the time limit. Raises Unreachable."""
        try:
            async with asyncio.timeout(seconds):
                location = await self.location(registration, path)
                url = f"https://{location.authority}{path}"
                async with self.of(registration).request(location, method, url, headers=headers) as answer:
                    yield answer
        except TimeoutError as exc:
            raise Unreachable("context deadline exceeded") from exc
        except (InvalidAnswerStatus, Unresolved, bundles.NoTrust) as exc:
            raise Unreachable(str(exc)) from exc

    async def _failure(self, registration: Registration) -> str:
        path = registration.root
        try:
            location = await self.location(registration, path)
        except Unresolved as exc:
            return str(exc)
        url = f"https://{location.authority}{path}"
        user = CIMultiDict(AGGREGATOR)
        try:
            async with self._answered(registration, path, hdrs.METH_GET, user, _DISCOVERY_SECONDS) as answer:
                if answer.status not in _WELL:
                    return f"failing or missing response from {url}: bad status from {url}: {answer.status}"
        except Unreachable as exc:
            return f"failing or missing response from {url}: Get {quote(url)}: {exc}"
        return ""


async def _read(answer: RelayedAnswer) -> bytes:
    body = bytearray()
    async for chunk in answer.chunks():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise Unreachable(f"the response has more than {_MOST_BYTES} bytes")
    return bytes(body)
