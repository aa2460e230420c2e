"""Channels: one gRPC connection to one etcd member, with the options that etcd wants.

Knows gRPC and files, no requests. Must hold: an engine shares no connection with another one, so that closing or losing
one disturbs nobody; no proxy of the environment is used; a message has no size limit but etcd's own.
"""

from pathlib import Path

import grpc
import grpc.aio

from aio_apiserver.storage.errors import InvalidOptions
from aio_apiserver.storage.kv.etcd.config import Address, EtcdConfig, Tls

_CONNECT_MS = 3_000
"""How long one attempt to connect may take."""
_FIRST_RECONNECT_MS = 50
_LAST_RECONNECT_MS = 1_000
"""Pauses between attempts, from the first to the longest: a member that is back is noticed within a second."""


class Credentials:
    """The TLS files of a configuration; what is written to them later is used for later connections."""

    def __init__(self, tls: Tls) -> None:
        self._tls = tls
        self._contents = self._read()
        self.current = self._make()

    def refresh(self) -> bool:
        """Read the files again; whether they have changed. Files that cannot be read now have not."""
        try:
            contents = self._read()
        except InvalidOptions:
            return False
        if contents == self._contents:
            return False
        self._contents = contents
        self.current = self._make()
        return True

    def _read(self) -> list[bytes | None]:
        try:
            return [_content(self._tls.authority), _content(self._tls.key), _content(self._tls.certificate)]
        except OSError as exc:
            raise InvalidOptions(f"etcd's TLS files: {exc}") from exc

    def _make(self) -> grpc.ChannelCredentials:
        return grpc.ssl_channel_credentials(*self._contents)


def open_channel(address: Address, config: EtcdConfig, credentials: Credentials) -> grpc.aio.Channel:
    """A channel to a member; it connects when it is first used."""
    if address.is_secure:
        return grpc.aio.secure_channel(address.target, credentials.current, options=_options(config))
    return grpc.aio.insecure_channel(address.target, options=_options(config))


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
