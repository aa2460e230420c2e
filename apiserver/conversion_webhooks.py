"""Conversion webhooks: asked over HTTPS, with what their definitions say of where they are and whom to trust.

Must hold: no redirect is followed, no answer is longer than what is read of any request, and each call has an end. What
goes wrong is told in the words of Go's HTTP client, which operators of webhooks know.
"""

import base64
import binascii
import errno
import ssl
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any

import aiohttp
import orjson
from aiohttp import hdrs
from aiohttp.abc import AbstractResolver, ResolveResult

from registry.customresources.conversion import WebhookFailed
from registry.quoting import quote
from storage.stored_object import Object

ServiceAddress = Callable[[str, str], Awaitable[str]]
"""The cluster IP of a service, by its namespace and name. Raises WebhookFailed."""

_LONGEST_ANSWER = 3 * 1024 * 1024
_HEADERS = {
    hdrs.CONTENT_TYPE: "application/json",
    hdrs.ACCEPT: "application/json, */*",
    hdrs.USER_AGENT: "kube-apiserver-admission",
}
_HTTPS = 443


class ConversionWebhooks:
    """Asks webhooks, each call on a connection of its own."""

    def __init__(self, address_of: ServiceAddress) -> None:
        self._address_of = address_of

    async def __call__(self, client: Mapping[str, Any], body: Object, *, seconds: float) -> Object:
        """The answer of a webhook. Raises WebhookFailed."""
        service = client.get("service")
        url = client["url"] if service is None else _url_of(service)
        shown = f"{url}?timeout={seconds:g}s"
        try:
            resolver = (
                None if service is None else _Fixed(await self._address_of(service["namespace"], service["name"]))
            )
            status, answer = await _post(shown, body, client.get("caBundle") or "", resolver, seconds)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, WebhookFailed) as exc:
            raise WebhookFailed(f"Post {quote(shown)}: {_words(exc)}") from exc
        return _decoded(status, answer)


def _url_of(service: Mapping[str, Any]) -> str:
    path = (service.get("path") or "").lstrip("/")
    return f"https://{service['name']}.{service['namespace']}.svc:{service.get('port', _HTTPS)}/{path}"


async def _post(
    url: str, body: Object, authorities: str, resolver: AbstractResolver | None, seconds: float
) -> tuple[int, bytes]:
    connector = aiohttp.TCPConnector(ssl=_trusting(authorities), resolver=resolver, force_close=True)
    timeout = aiohttp.ClientTimeout(total=seconds)
    async with (
        aiohttp.ClientSession(connector=connector, timeout=timeout, auto_decompress=True) as session,
        session.post(url, data=orjson.dumps(body), headers=_HEADERS, allow_redirects=False) as response,
    ):
        return response.status, await _read(response)


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The whole answer. Raises ValueError for one that is too long."""
    answer = bytearray()
    async for chunk in response.content.iter_any():
        answer += chunk
        if len(answer) > _LONGEST_ANSWER:
            raise ValueError(f"http: response body too large: more than {_LONGEST_ANSWER} bytes")
    return bytes(answer)


def _decoded(status: int, answer: bytes) -> Object:
    try:
        value = orjson.loads(answer)
    except orjson.JSONDecodeError as exc:
        if status >= 300:
            raise WebhookFailed(
                "the server could not find the requested resource" if status == 404 else _unknown(status)
            ) from exc
        raise WebhookFailed(f"couldn't get version/kind; json parse error: {exc}") from exc
    if status >= 300:
        raise WebhookFailed(_unknown(status))
    if not isinstance(value, dict):
        raise WebhookFailed("couldn't get version/kind; json parse error: the answer is no object")
    return value


def _unknown(status: int) -> str:
    return f"an error on the server ({quote('unknown')}) has prevented the request from succeeding: {status}"


class _Fixed(AbstractResolver):
    """Finds every name at one address: certificates are still checked for the name."""

    def __init__(self, address: str) -> None:
        self._address = address

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
        return [ResolveResult(hostname=host, host=self._address, port=port, family=family, proto=0, flags=0)]

    async def close(self) -> None:
        """There is nothing to close."""


@lru_cache(maxsize=256)
def _trusting(authorities: str) -> ssl.SSLContext:
    """What trusts the authorities of a bundle in base64; those of this machine without one. Raises ValueError."""
    if not authorities:
        return ssl.create_default_context()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(cadata=base64.b64decode(authorities).decode())
    except (ssl.SSLError, binascii.Error, UnicodeDecodeError) as exc:
        raise ValueError("unable to load root certificates: unable to parse bytes as PEM block") from exc
    return context


def _words(exc: BaseException) -> str:
    """Go's words for why there was no answer."""
    if isinstance(exc, TimeoutError):
        return "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
    if isinstance(exc, aiohttp.ClientConnectorCertificateError):
        return "tls: failed to verify certificate: x509: certificate signed by unknown authority"
    if isinstance(exc, aiohttp.ClientConnectorDNSError):
        return f"dial tcp: lookup {exc.host}: no such host"
    if isinstance(exc, aiohttp.ClientConnectorError):
        why = "connection refused" if exc.errno == errno.ECONNREFUSED else (exc.strerror or "failed").lower()
        return f"dial tcp {exc.host}:{exc.port}: connect: {why}"
    if isinstance(exc, aiohttp.ServerDisconnectedError):
        return "EOF"
    return str(exc)
