"""Channel: opens HTTP/2 connections to one etcd member, and makes gRPC's calls and streams on them.

One connection carries all requests; each watch stream has its own. Knows TLS files, no requests.

Must hold: an engine shares no connection with another engine, so that closing or losing one affects that engine alone.
A proxy in the environment is not used. A message has no size limit but etcd's own. All connections trust the same
authorities.
"""

import asyncio
import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aio_apiserver.storage.errors import InvalidOptions
from aio_apiserver.storage.etcd_config import UNIX, EndpointAddress, EtcdConfig, Tls
from aio_apiserver.storage.kv.etcd import grpc_messages
from aio_apiserver.storage.kv.etcd.grpc_status import Metadata
from aio_apiserver.storage.kv.etcd.grpc_stream import GrpcStream
from aio_apiserver.storage.kv.etcd.http2 import Http2Connection

_NO_HANDSHAKE = "the server has closed the connection before the TLS handshake"
_CONNECT_SECONDS = 3.0
"""How long one attempt to connect may take."""


class Credentials:
    """The TLS files of a configuration. New connections use their newest content, or the last that was good."""

    def __init__(self, tls: Tls) -> None:
        self._tls = tls
        self._context: ssl.SSLContext | None = None
        if tls != Tls():
            self._context = self.context()

    def context(self) -> ssl.SSLContext:
        """The TLS context for a connection. Raises InvalidOptions if the files never were good."""
        try:
            self._context = self._make()
        except OSError as exc:
            if self._context is None:
                raise InvalidOptions(f"{exc.filename}: {exc.strerror}") from exc
        return self._context

    def _make(self) -> ssl.SSLContext:
        tls = self._tls
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if tls.authority is None:
            context.load_default_certs()
        else:
            with _naming(tls.authority):
                context.load_verify_locations(tls.authority)
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as gRPC does: an authority need not be a root
        if tls.certificate is not None:
            with _naming(*filter(None, (tls.certificate, tls.key))):
                context.load_cert_chain(tls.certificate, tls.key)
        context.set_alpn_protocols(["h2"])
        return context


@contextmanager
def _naming(*files: Path) -> Iterator[None]:
    """Name the TLS files of etcd in the OSError of the block."""
    try:
        yield
    except OSError as exc:
        absent = [file for file in files if not file.exists()] or files
        why = exc.strerror or str(exc)
        raise OSError(exc.errno, f"no certificates for etcd: {why}", " and ".join(map(str, absent))) from exc


class MemberDialer:
    """The way to the member at one address."""

    def __init__(self, address: EndpointAddress, config: EtcdConfig, credentials: Credentials) -> None:
        self._address = address
        self._config = config
        self._credentials = credentials

    async def connect(self) -> Http2Connection:
        """A new connection, on which the member has answered. Raises RpcFailed."""
        config = self._config
        connection = Http2Connection(keepalive=config.keepalive, keepalive_timeout=config.keepalive_timeout)
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await self._open(connection)
                await connection.ready
        except (OSError, TimeoutError) as error:
            connection.close()
            raise grpc_messages.broken(_reason(error), was_sent=False) from error
        except BaseException:
            connection.close()
            raise
        return connection

    async def open_stream(self, method: str, metadata: Metadata) -> GrpcStream:
        """A stream on a new connection. Raises RpcFailed."""
        return GrpcStream(await self.connect(), self.headers(method, metadata))

    def headers(self, method: str, metadata: Metadata) -> bytes:
        """The header block of a call."""
        target = self._address.target
        return grpc_messages.request_headers(
            method,
            scheme="https" if self._address.is_secure else "http",
            authority="localhost" if target.startswith(UNIX) else target,
            metadata=metadata,
        )

    async def _open(self, connection: Http2Connection) -> None:
        loop, target = asyncio.get_running_loop(), self._address.target
        if target.startswith(UNIX):
            await loop.create_unix_connection(lambda: connection, target.removeprefix(UNIX))
        else:
            host, _, port = target.rpartition(":")
            context = self._credentials.context() if self._address.is_secure else None
            try:
                await loop.create_connection(lambda: connection, host.strip("[]"), int(port), ssl=context)
            except ConnectionResetError as error:
                if context is None:
                    raise
                raise ConnectionResetError(_NO_HANDSHAKE) from error  # it has closed without reading all bytes


def _reason(error: OSError) -> str:
    """Why there is no connection, in the system's words where it has a number for it."""
    number = error.errno or 0
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if number < 0:  # the name server's
        return f"the host has no address: {error.strerror}"
    if isinstance(error, ssl.SSLError) or not number:
        return str(error) or _NO_HANDSHAKE
    return os.strerror(number)
