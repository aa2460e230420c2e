"""Remote servers: HTTPS connections to the servers of APIServices.

It opens all of them, and is imported with the first one. Must hold: the certificate of a server is for the name of its
service, and signed by the caBundle of the APIService, unless insecureSkipTLSVerify is set. The server gets the
certificate of --proxy-client-cert-file. Redirects are not followed. A connection failure has the words of Go's dialer.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import NamedTuple

import aiohttp
from aiohttp import ClientResponse, hdrs
from multidict import CIMultiDict
from yarl import URL

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.outgoing import forwarding
from aio_apiserver.apiserver.outgoing.backends import UNREACHABLE, Unreachable, why
from aio_apiserver.apiserver.outgoing.forwarding import Forwarding
from aio_apiserver.apiserver.tls import bundles
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.locations import Location, Passage
from aio_apiserver.registry.groups.apiregistration.registrations import Registration
from aio_apiserver.registry.groups.apiregistration.resolving import Resolver, Unresolved

_DISCOVERY_SECONDS = 5.0
_CONNECT_SECONDS = 30.0
_MORE_TRIES = 4
_STREAM_LIMIT = 64 * 1024
_MOST_BYTES = 64 * 1024 * 1024
_WELL = range(200, 300)
_CLOSED = (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, ConnectionResetError)
AGGREGATOR: Mapping[str, str] = {"X-Remote-User": "system:kube-aggregator", "X-Remote-Group": "system:masters"}
"""The user of requests that this server makes itself."""


class Document(NamedTuple):
    """A response that was read whole."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class RemoteServers:
    """The connections to the servers of all registrations."""

    def __init__(self, settings: Settings, resolver: Resolver) -> None:
        self._settings = settings
        self._forwarding = forwarding.of(settings)
        self._resolver = resolver
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
            skip_auto_headers=(hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE),
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._session.close()

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

    def of(self, registration: Registration) -> "RemoteServer":
        """The server of a registration, for requests and tunnels. Raises NoTrust."""
        return RemoteServer(self._session, registration, self._tls(registration), self._forwarding)

    async def check(self, registration: Registration) -> str:
        """The failure of a request for the discovery document; empty when one of several tries succeeds."""
        failure = await self._failure(registration)
        if not failure:
            return ""
        others = await asyncio.gather(*(self._failure(registration) for _ in range(_MORE_TRIES)))
        return failure if all(others) else ""

    async def get(
        self, registration: Registration, path: str, *, headers: Mapping[str, str], seconds: float = _DISCOVERY_SECONDS
    ) -> Document:
        """A document of a server. Raises Unreachable."""
        try:
            async with asyncio.timeout(seconds):
                location = await self.location(registration, path)
                url = f"https://{location.authority}{path}"
                asked = CIMultiDict({**AGGREGATOR, **headers})
                async with self.of(registration).request(location, hdrs.METH_GET, url, headers=asked) as answer:
                    return Document(answer.status, dict(answer.headers), await _read(answer))
        except TimeoutError as exc:
            raise Unreachable("context deadline exceeded") from exc
        except (Unresolved, bundles.NoTrust) as exc:
            raise Unreachable(str(exc)) from exc

    async def _failure(self, registration: Registration) -> str:
        path = registration.root
        try:
            location = await self.location(registration, path)
        except Unresolved as exc:
            return str(exc)
        url = f"https://{location.authority}{path}"
        try:
            answer = await self.get(registration, path, headers={})
        except Unreachable as exc:
            return f"failing or missing response from {url}: Get {quote(url)}: {exc}"
        if answer.status not in _WELL:
            return f"failing or missing response from {url}: bad status from {url}: {answer.status}"
        return ""

    def _tls(self, registration: Registration) -> ssl.SSLContext:
        settings = self._settings
        certificate = (str(settings.proxy_client_cert_file), str(settings.proxy_client_key_file))
        has_one = settings.proxy_client_cert_file is not None
        return _trust(registration.authorities, registration.is_unverified, certificate if has_one else None)


class RemoteServer:
    """One server, with the interface that `Backends` has for kubelets, pods and services."""

    def __init__(
        self, session: aiohttp.ClientSession, registration: Registration, tls: ssl.SSLContext, rule: Forwarding
    ) -> None:
        self.forwarding = rule
        self._session = session
        self._host = registration.host
        self._tls = tls

    @asynccontextmanager
    async def request(
        self,
        location: Location,
        method: str,
        url: str,
        *,
        headers: CIMultiDict[str],
        body: AsyncIterator[bytes] | None = None,
    ) -> AsyncIterator[ClientResponse]:
        """The response to a request. Raises Unreachable."""
        try:
            answering = await self._session.request(
                method,
                URL(url, encoded=True),
                headers=headers,
                data=body,
                ssl=self._tls,
                server_hostname=self._host,
                allow_redirects=False,
            )
        except _CLOSED as exc:
            raise Unreachable("EOF") from exc
        except (aiohttp.ClientError, *UNREACHABLE) as exc:
            raise Unreachable(why(exc, location)) from exc
        async with answering as response:
            yield response

    async def open(self, location: Location) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection for a tunnel. Raises Unreachable."""
        opening = asyncio.open_connection(
            location.host, location.port, ssl=self._tls, server_hostname=self._host, limit=_STREAM_LIMIT
        )
        try:
            return await asyncio.wait_for(opening, _CONNECT_SECONDS)
        except UNREACHABLE as exc:
            raise Unreachable(why(exc, location)) from exc


async def _read(answer: ClientResponse) -> bytes:
    body = bytearray()
    async for chunk in answer.content.iter_any():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise Unreachable(f"the response has more than {_MOST_BYTES} bytes")
    return bytes(body)


@lru_cache(maxsize=64)
def _trust(authorities: str, is_unverified: bool, certificate: tuple[str, str] | None) -> ssl.SSLContext:
    """The TLS context for a registration. Raises NoTrust."""
    context = bundles.trusting_bundle(authorities)
    if is_unverified:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if certificate is not None:
        context.load_cert_chain(*certificate)
    return context
