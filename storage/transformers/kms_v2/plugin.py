"""The client of a KMS v2 plugin: Status, Encrypt and Decrypt over gRPC on a unix socket.

Knows the API and its errors, no state and no policy. Must hold: every call ends within the timeout; nothing that a
plugin does or sends lets an exception out but PluginFailed.
"""

import uuid
from typing import Any
from urllib.parse import urlsplit

import grpc
import grpc.aio
from msgspec import Struct

from aio_apiserver.storage.transformers.kms_v2 import messages

_OPTIONS = (
    # Servers that are strict about HTTP/2 refuse the socket's path, which gRPC would send as the authority.
    ("grpc.default_authority", "localhost"),
    ("grpc.enable_http_proxy", 0),
    # A plugin that comes back is found again within a second; gRPC's own back-off grows to two minutes.
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
"""What says of a Decrypt that it will never succeed. Plugins answer UNKNOWN for many things: it may pass."""


class PluginFailed(Exception):
    """A call without a usable answer. `is_final`: the plugin refuses what it was sent, now and later."""

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


class Status(Struct, frozen=True):
    """What a plugin says of itself: well when `healthz` is "ok"; `key_id` is the key that it encrypts with now."""

    version: str
    healthz: str
    key_id: str


class Encrypted(Struct, frozen=True):
    """What a plugin has made of a plaintext, and what it wants to see again in order to decrypt it."""

    ciphertext: bytes
    key_id: str
    annotations: tuple[tuple[str, bytes], ...] = ()


class Plugin:
    """A connection to one plugin. It is made on the running event loop and reconnects by itself."""

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
        """Let the calls under way finish, and refuse more. Safe to call twice."""
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
    """gRPC's name for unix:///run/kms.sock, or for the abstract socket unix:///@kms."""
    path = urlsplit(endpoint).path
    return f"unix-abstract:{path[2:]}" if path.startswith("/@") else f"unix:{path}"
