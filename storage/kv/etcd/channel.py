"""Channel: opens the gRPC connections to one etcd member, with the options that etcd needs.

One connection carries all requests; each watch stream has its own. Knows gRPC and files, no requests.

Must hold: an engine shares no connection with another engine, so that closing or losing one affects that engine alone.
A proxy in the environment is not used. A message has no size limit but etcd's own. Watch streams trust the same
authorities as requests.
"""

import asyncio
import ssl
from importlib import resources
from pathlib import Path

import grpc
import grpc.aio
from grpc.aio import AioRpcError, Metadata

from aio_apiserver.storage.errors import InvalidOptions
from aio_apiserver.storage.kv.etcd import failures
from aio_apiserver.storage.kv.etcd.config import UNIX, EndpointAddress, EtcdConfig, Tls
from aio_apiserver.storage.kv.etcd.grpc_stream import GrpcStream

_CONNECT_MS = 3_000
"""How long one attempt to connect may take."""
_FIRST_RECONNECT_MS = 50
_LAST_RECONNECT_MS = 1_000
"""The first and the longest pause between attempts: a member that is back is noticed within a second."""


class Credentials:
    """The TLS files of a configuration; new connections use their newest content."""

    def __init__(self, tls: Tls) -> None:
        self._tls = tls
        self._contents = self._read()
        self.current = self._make()

    def refresh(self) -> bool:
        """Read the files again; returns whether they have changed. Unreadable files count as unchanged."""
        try:
            contents = self._read()
        except InvalidOptions:
            return False
        if contents == self._contents:
            return False
        self._contents = contents
        self.current = self._make()
        return True

    def context(self) -> ssl.SSLContext:
        """The TLS context for a connection without grpc, from the present files. Raises OSError."""
        tls = self._tls
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(tls.authority or str(resources.files("grpc") / "_cython/_credentials/roots.pem"))
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as gRPC does: an authority need not be a root
        if tls.certificate is not None:
            context.load_cert_chain(tls.certificate, tls.key)
        context.set_alpn_protocols(["h2"])
        return context

    def _read(self) -> list[bytes | None]:
        try:
            return [_content(self._tls.authority), _content(self._tls.key), _content(self._tls.certificate)]
        except OSError as exc:
            raise InvalidOptions(f"etcd's TLS files: {exc}") from exc

    def _make(self) -> grpc.ChannelCredentials:
        return grpc.ssl_channel_credentials(*self._contents)


def open_channel(address: EndpointAddress, config: EtcdConfig, credentials: Credentials) -> grpc.aio.Channel:
    """A channel to a member; it connects when it is first used."""
    if address.is_secure:
        return grpc.aio.secure_channel(address.target, credentials.current, options=_options(config))
    return grpc.aio.insecure_channel(address.target, options=_options(config))


async def open_stream(
    method: str, address: EndpointAddress, metadata: Metadata, *, config: EtcdConfig, credentials: Credentials
) -> GrpcStream:
    """A stream to a member, on a new connection. Raises AioRpcError."""
    stream = GrpcStream(method, address, metadata, config)
    try:
        async with asyncio.timeout(_CONNECT_MS / 1000):
            await _connect(stream, address, credentials.context() if address.is_secure else None)
    except (OSError, TimeoutError) as error:
        details = f"{failures.NOT_CONNECTED}: {error or 'no answer in time'}"
        raise AioRpcError(grpc.StatusCode.UNAVAILABLE, Metadata(), Metadata(), details=details) from error
    return stream


async def _connect(stream: GrpcStream, address: EndpointAddress, context: ssl.SSLContext | None) -> None:
    loop, target = asyncio.get_running_loop(), address.target
    if target.startswith(UNIX):
        await loop.create_unix_connection(lambda: stream, target.removeprefix(UNIX))
    else:
        host, _, port = target.rpartition(":")
        await loop.create_connection(lambda: stream, host.strip("[]"), int(port), ssl=context)


def _content(path: Path | None) -> bytes | None:
    return path.read_bytes() if path else None


def _options(config: EtcdConfig) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", -1),
        ("grpc.max_send_message_length", -1),
        ("grpc.keepalive_time_ms", int(config.keepalive * 1000)),
        ("grpc.keepalive_timeout_ms", int(config.keepalive_timeout * 1000)),
        ("grpc.keepalive_permit_without_calls", 0),  # etcd disconnects those who probe idle connections
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.min_reconnect_backoff_ms", _CONNECT_MS),
        ("grpc.initial_reconnect_backoff_ms", _FIRST_RECONNECT_MS),
        ("grpc.max_reconnect_backoff_ms", _LAST_RECONNECT_MS),
        ("grpc.use_local_subchannel_pool", 1),
        ("grpc.enable_http_proxy", 0),
    ]
