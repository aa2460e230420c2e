"""Backends: connections to kubelets, pods and services, for the connect subresources.

Must hold: the client certificate of the kubelet flags goes to kubelets, not to pods and services. Redirects are not
followed. A connection failure has the words of kube-apiserver's dialer.
"""

import asyncio
import contextlib
import errno
import os
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import Protocol

import aiohttp
from aiohttp import ClientResponse, hdrs
from multidict import CIMultiDict
from yarl import URL

from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.outgoing import forwarding, guarded
from aio_apiserver.apiserver.outgoing.forwarding import Forwarding
from aio_apiserver.apiserver.outgoing.guarded import GuardedResolver, Lookup, NotAllowed
from aio_apiserver.apiserver.tls import bundles
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.locations import Location

_STREAM_LIMIT = 64 * 1024
UNREACHABLE = (OSError, ValueError, OverflowError)
"""aiohttp and asyncio raise ValueError or OverflowError for invalid hosts and ports."""
_UNSET_HEADERS = (hdrs.USER_AGENT, hdrs.ACCEPT, hdrs.ACCEPT_ENCODING, hdrs.CONTENT_TYPE)
_CLOSED = (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, ConnectionResetError)


class Unreachable(Exception):
    """The backend did not answer; the message has the reason."""


class Servers(Protocol):
    """The destination of forwarded requests: the cluster's backends, or one aggregated server."""

    @property
    def forwarding(self) -> Forwarding:
        """The rule for the headers that are forwarded."""
        ...

    def request(
        self,
        location: Location,
        method: str,
        url: str,
        *,
        headers: CIMultiDict[str],
        body: AsyncIterator[bytes] | None = None,
    ) -> AbstractAsyncContextManager[ClientResponse]:
        """The response to a request. Raises Unreachable, StatusError."""
        ...

    async def open(self, location: Location) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection for a tunnel. Raises Unreachable, StatusError."""
        ...


class Backends:
    """The connections to the locations that the registry returns."""

    def __init__(self, settings: Settings, *, lookup: Lookup = guarded.system_lookup) -> None:
        self.forwarding = forwarding.of(settings)
        self._settings = settings
        self._resolver = GuardedResolver(lookup)
        self._sessions: dict[bool, aiohttp.ClientSession] = {}
        """The sessions, by whether addresses are guarded."""
        self._kubelets: dict[bool, ssl.SSLContext] = {}
        """The TLS contexts for kubelets, by whether their certificates are verified; made with the first request."""

    async def close(self) -> None:
        """Close every connection."""
        for session in self._sessions.values():
            await session.close()

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
        """The response of a location. Raises Unreachable, BadRequest."""
        tls = self._tls(location) or True
        try:
            target = URL(url, encoded=True)
            answering = await self._client(is_guarded=location.is_guarded).request(
                method, target, headers=headers, data=body, ssl=tls, allow_redirects=False
            )
        except _CLOSED as exc:
            raise Unreachable("EOF") from exc
        except (aiohttp.ClientError, *UNREACHABLE) as exc:
            if isinstance(getattr(exc, "os_error", None), NotAllowed):
                raise BadRequest("address not allowed") from exc
            raise Unreachable(why(exc, location)) from exc
        async with answering as response:
            yield response

    async def open(self, location: Location) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to a location. Raises Unreachable, BadRequest."""
        hosts = await self._resolver.addresses(location.host) if location.is_guarded else (location.host,)
        try:
            return await asyncio.wait_for(self._dial(location, hosts), self._settings.kubelet_timeout)
        except UNREACHABLE as exc:
            raise Unreachable(why(exc, location)) from exc

    async def _dial(
        self, location: Location, hosts: Sequence[str]
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the first host that accepts it. Raises UNREACHABLE."""
        tls, port = self._tls(location), location.port or location.scheme
        name = location.host if tls is not None else None
        for host in hosts[:-1]:
            with contextlib.suppress(*UNREACHABLE):
                return await asyncio.open_connection(host, port, ssl=tls, server_hostname=name, limit=_STREAM_LIMIT)
        return await asyncio.open_connection(hosts[-1], port, ssl=tls, server_hostname=name, limit=_STREAM_LIMIT)

    def _client(self, *, is_guarded: bool) -> aiohttp.ClientSession:
        if is_guarded not in self._sessions:
            connector = aiohttp.TCPConnector(limit=0)
            if is_guarded:
                connector = aiohttp.TCPConnector(
                    limit=0, resolver=self._resolver, use_dns_cache=False, socket_factory=guarded.guarded_socket
                )
            self._sessions[is_guarded] = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._settings.kubelet_timeout),
                skip_auto_headers=_UNSET_HEADERS,
            )
        return self._sessions[is_guarded]

    def renew(self) -> None:
        """Load the certificates for kubelets from their files again. Raises OSError, and then changes nothing."""
        verified, unverified = self._of_kubelet(is_verified=True), self._of_kubelet(is_verified=False)
        self._kubelets = {True: verified, False: unverified}

    def _tls(self, location: Location) -> ssl.SSLContext | None:
        if location.scheme != "https":
            return None
        if not location.is_kubelet:
            return self._unverified
        if not self._kubelets:
            self.renew()
        return self._kubelets[location.is_verified]

    @cached_property
    def _unverified(self) -> ssl.SSLContext:
        """For pods and services, whose certificate authorities the server does not know."""
        return bundles.unverified()

    def _of_kubelet(self, *, is_verified: bool) -> ssl.SSLContext:
        settings = self._settings
        authority = settings.kubelet_certificate_authority if is_verified else None
        context = bundles.unverified() if authority is None else bundles.trusting(authority.read_text())
        if settings.kubelet_client_certificate is not None:
            context.load_cert_chain(settings.kubelet_client_certificate, settings.kubelet_client_key)
        return context


def kubelet_files(settings: Settings) -> Sequence[Path]:
    """The certificate files for connections to kubelets."""
    given = (
        settings.kubelet_client_certificate,
        settings.kubelet_client_key,
        settings.kubelet_certificate_authority,
    )
    return list(filter(None, given))


def why(exc: Exception, location: Location) -> str:
    """The reason of a connection failure, in the words of Go's dialer."""
    cause = exc.os_error if isinstance(exc, aiohttp.ClientConnectorError) else exc
    if isinstance(exc, aiohttp.ClientConnectorCertificateError):
        return f"tls: failed to verify certificate: {exc.certificate_error}"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: {cause.verify_message}"
    if isinstance(cause, socket.gaierror):
        return f"dial tcp: lookup {location.host}: no such host"
    place = f"dial tcp {location.authority}"
    if isinstance(exc, TimeoutError) or isinstance(cause, TimeoutError):
        return f"{place}: i/o timeout"
    if isinstance(cause, ssl.SSLError):
        return f"tls: {cause.reason or 'handshake failure'}"
    number = getattr(cause, "errno", None) or 0
    words = os.strerror(number).lower() if number in errno.errorcode else str(cause)
    return f"{place}: connect: {words}"
