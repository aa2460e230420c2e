"""Plugin: KmsClient, the client of a KMS v2 plugin: Status, Encrypt and Decrypt over gRPC on a unix socket.

It knows the API and its errors, no state and no policy. Must hold: every call ends within the timeout. An error of the
plugin raises PluginFailed.
"""

import uuid
from typing import Any
from urllib.parse import urlsplit

import grpc
import grpc.aio
from msgspec import Struct

from aio_apiserver.storage.transformers.kms_v2 import messages

_OPTIONS = (
    # Some HTTP/2 servers refuse the path of the socket, which gRPC would send as the authority.
    ("grpc.default_authority", "localhost"),
    ("grpc.enable_http_proxy", 0),
    # Reconnects within a second; gRPC's own back-off grows to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1000),
    ("grpc.max_reconnect_backoff_ms", 1000),
)

_REFUSALS = frozenset(
    {
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.NOT_FOUND,
        grpc.StatusCode.OUT_OF_RANGE,
        grpc.StatusCode.DATA_LOSS,
    }
)
"""Codes of a Decrypt that will never succeed. Plugins use UNKNOWN for many errors, which may be temporary."""


class PluginFailed(Exception):
    """A call failed. `is_final`: the plugin refuses the request, and will refuse it again."""

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


class Status(Struct, frozen=True):
    """The status of a plugin: healthy when `healthz` is "ok". `key_id` is the key with which it encrypts now."""

    version: str
    healthz: str
    key_id: str


class Encrypted(Struct, frozen=True):
    """The result of Encrypt, and the data that Decrypt needs."""

    ciphertext: bytes
    key_id: str
    annotations: tuple[tuple[str, bytes], ...] = ()


class KmsClient:
    """A connection to one plugin, created on the running event loop. It reconnects by itself."""

    def __init__(self, endpoint: str, *, timeout: float) -> None:
        self._timeout = timeout
        self._is_closed = False
        self._channel = grpc.aio.insecure_channel(target(endpoint), options=_OPTIONS)

    async def status(self) -> Status:
        """Raises PluginFailed."""
        response = await self._call("Status")
        return Status(response.version, response.healthz, response.key_id)

    async def encrypt(self, plaintext: bytes) -> Encrypted:
        """Raises PluginFailed."""
        response = await self._call("Encrypt", plaintext=plaintext, uid=str(uuid.uuid4()))
        return Encrypted(response.ciphertext, response.key_id, tuple(sorted(response.annotations.items())))

    async def decrypt(self, encrypted: Encrypted) -> bytes:
        """Raises PluginFailed."""
        response = await self._call(
            "Decrypt",
            ciphertext=encrypted.ciphertext,
            uid=str(uuid.uuid4()),
            key_id=encrypted.key_id,
            annotations=dict(encrypted.annotations),
        )
        plaintext: bytes = response.plaintext
        return plaintext

    async def close(self) -> None:
        """Let running calls finish and refuse new ones. Safe to call twice."""
        self._is_closed = True
        await self._channel.close(grace=self._timeout)

    async def _call(self, method: str, **fields: Any) -> Any:
        if self._is_closed:
            raise PluginFailed(f"{method}: the connection was closed")
        call = self._channel.unary_unary(f"/v2.KeyManagementService/{method}")
        request = messages.encode(f"{method}Request", **fields)
        try:
            response = await call(request, timeout=self._timeout, wait_for_ready=True)
        except grpc.aio.AioRpcError as exc:
            message = f"{method}: {exc.code().name}: {exc.details()}"
            raise PluginFailed(message, is_final=exc.code() in _REFUSALS) from exc
        try:
            return messages.decode(f"{method}Response", response)
        except ValueError as exc:
            raise PluginFailed(f"{method}: the answer is {exc}") from exc


def target(endpoint: str) -> str:
    """gRPC's target for unix:///run/kms.sock, or for the abstract socket unix:///@kms."""
    path = urlsplit(endpoint).path
    return f"unix-abstract:{path[2:]}" if path.startswith("/@") else f"unix:{path}"
