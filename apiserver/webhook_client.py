"""WebhookClient: sends reviews to webhooks over HTTPS, to where their configurations say that they are.

Admission and conversion share it. Must hold: a webhook is trusted by the CA bundle of its configuration, or else by the
authorities of the machine; connections are kept for the next review to the same place under the same trust; no redirect
is followed, no answer is longer than what is read of any request, and each call has an end.
"""

import base64
import binascii
import ipaddress
import posixpath
import ssl
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote as escaped
from urllib.parse import unquote, urlsplit

import aiohttp
import orjson
import yarl
from aiohttp import hdrs
from aiohttp.abc import AbstractResolver, ResolveResult

from apiserver import bodies, webhook_words
from apiserver.handlers.decoding import NOT_AN_OBJECT
from apiserver.serializers import yaml
from apiserver.webhook_credentials import Credentials
from registry import json_errors
from registry.quoting import quote
from registry.schema.leaves import json_type
from registry.webhook_calls import OutOfTime, Unusable, WebhookFailed
from storage.stored_object import Object

ServiceAddress = Callable[[str, str, int], Awaitable[str]]
"""The address of a service (or its name outside), by its namespace, name and port. Raises WebhookFailed."""

_HEADERS: Mapping[str, str] = {
    hdrs.CONTENT_TYPE: "application/json",
    hdrs.ACCEPT: "application/json, */*",
    hdrs.USER_AGENT: "kube-apiserver-admission",
}
_HTTPS = 443
_SERVICE = ".svc"
_MOST_TRUSTS = 256
_OK = range(200, 207)
_PLAIN_IN_PATHS = "$&+,/:;=@"


class _Target(NamedTuple):
    """Where a webhook is; `is_service` when its name is that of a service, which no DNS knows here."""

    url: str
    host: str
    port: int
    is_service: bool


class _Message(NamedTuple):
    """What is sent."""

    data: bytes
    headers: Mapping[str, str]


_NOBODY = Credentials()
_NONE: Mapping[str, Credentials] = {}


class WebhookClient:
    """The connections of one server to its webhooks, by what it shows them on behalf of its plugins."""

    def __init__(self, address_of: ServiceAddress, credentials: Mapping[str, Credentials] = _NONE) -> None:
        self._address_of = address_of
        self._credentials = credentials
        self._sessions: dict[bool, aiohttp.ClientSession] = {}

    async def close(self) -> None:
        """End every connection."""
        for session in self._sessions.values():
            await session.close()

    async def __call__(self, client: Mapping[str, Any], body: Object, *, seconds: float, plugin: str = "") -> Object:
        """The answer of a webhook. Raises WebhookFailed."""
        target = _target(client)
        credential = self._credentials.get(plugin, _NOBODY).of(target.host, target.port)
        trust = _trust(client.get("caBundle") or "", credential.certificate)
        shown = f"{target.url}?timeout={seconds:g}s"
        try:
            if target.is_service:
                await self._check_service(client["service"], target.port)
            message = _Message(orjson.dumps(body), {**_HEADERS, **credential.headers()})
            status, media_type, answer = await self._post(target, shown, message, trust, seconds)
        except TimeoutError as exc:
            raise OutOfTime(f"Post {quote(shown)}: context deadline exceeded") from exc
        except (aiohttp.ClientError, OSError, ValueError, WebhookFailed) as exc:
            raise WebhookFailed(f"Post {quote(shown)}: {webhook_words.of_failure(exc)}") from exc
        if status not in _OK:
            raise WebhookFailed(webhook_words.of_status(status, media_type, answer), code=status)
        return _decoded(answer)

    async def _check_service(self, service: Mapping[str, Any], port: int) -> None:
        """A service that is not there is told as such, not as a name that nobody knows."""
        await self._address_of(service["namespace"], service["name"], port)

    async def _post(
        self, target: _Target, url: str, message: _Message, trust: ssl.SSLContext, seconds: float
    ) -> tuple[int, str, bytes]:
        session = self._session(is_service=target.is_service)
        timeout = aiohttp.ClientTimeout(total=seconds)
        for is_last in (False, True):
            connection = _Connection()
            posting = session.post(
                yarl.URL(url, encoded=True),
                data=message.data,
                headers=message.headers,
                ssl=trust,
                allow_redirects=False,
                timeout=timeout,
                trace_request_ctx=connection,
            )
            try:
                async with posting as response:
                    return response.status, response.headers.get(hdrs.CONTENT_TYPE, ""), await _read(response)
            except (aiohttp.ServerDisconnectedError, ConnectionResetError):
                # A webhook may close a kept connection at any time: that is no failure of the webhook.
                if is_last or not connection.is_kept:
                    raise
        raise AssertionError

    def _session(self, *, is_service: bool) -> aiohttp.ClientSession:
        session = self._sessions.get(is_service)
        if session is None:
            resolver = _Services(self._address_of) if is_service else None
            connector = aiohttp.TCPConnector(limit=0, resolver=resolver, use_dns_cache=False)
            session = self._sessions[is_service] = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trace_configs=[_noting_kept_connections()]
            )
        return session


class _Connection:
    """What is known of the connection of one call."""

    is_kept = False


def _noting_kept_connections() -> aiohttp.TraceConfig:
    config = aiohttp.TraceConfig()

    async def note(_session: Any, context: Any, _parameters: Any) -> None:
        context.trace_request_ctx.is_kept = True

    config.on_connection_reuseconn.append(note)
    return config


class _Services(AbstractResolver):
    """Finds services at their addresses: certificates are still checked for their names."""

    def __init__(self, address_of: ServiceAddress) -> None:
        self._address_of = address_of

    async def resolve(self, host: str, port: int = 0, family: Any = 0) -> list[ResolveResult]:
        name, _, namespace = host.removesuffix(_SERVICE).partition(".")
        try:
            address = await self._address_of(namespace, name, port)
        except WebhookFailed as exc:
            raise OSError(str(exc)) from exc
        if not _is_address(address):
            return await aiohttp.ThreadedResolver().resolve(address, port, family)
        return [ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)]

    async def close(self) -> None:
        """There is nothing to close."""


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _target(client: Mapping[str, Any]) -> _Target:
    service = client.get("service")
    if service is None:
        url = urlsplit(client["url"])
        place = f"{url.scheme}://{url.netloc}{_clean(unquote(url.path))}"
        return _Target(place, url.hostname or "", url.port or _HTTPS, is_service=False)
    host, port = f"{service['name']}.{service['namespace']}{_SERVICE}", service.get("port") or _HTTPS
    return _Target(f"https://{host}:{port}{_clean(service.get('path') or '')}", host, port, is_service=True)


def _clean(path: str) -> str:
    """A path as it is asked for: without empty steps and without a slash at its end."""
    return escaped(posixpath.normpath(f"/{path.lstrip('/')}"), safe=_PLAIN_IN_PATHS)


@lru_cache(maxsize=_MOST_TRUSTS)
def _trust(authorities: str, certificate: str) -> ssl.SSLContext:
    """What trusts the authorities of a bundle in base64 (those of this machine without one), and shows a certificate.

    Raises Unusable.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if authorities else ssl.create_default_context()
    try:
        if authorities:
            context.load_verify_locations(cadata=base64.b64decode(authorities).decode())
    except (ssl.SSLError, binascii.Error, UnicodeDecodeError) as exc:
        raise Unusable("unable to load root certificates: unable to parse bytes as PEM block") from exc
    if certificate:
        _show(certificate, context)
    return context


def _show(certificate: str, context: ssl.SSLContext) -> None:
    with tempfile.NamedTemporaryFile() as pair:  # the ssl module reads certificates from files alone
        pair.write(certificate.encode())
        pair.flush()
        try:
            context.load_cert_chain(pair.name)
        except ssl.SSLError as exc:
            raise Unusable("tls: failed to find any PEM data in certificate input") from exc


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The whole answer. Raises ValueError when it is longer than what is read."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > bodies.LIMIT:
            raise ValueError(f"http: response body too large: limit is {bodies.LIMIT}")
    return bytes(body)


def _decoded(answer: bytes) -> Object:
    """The object in an answer, which may be YAML. Raises WebhookFailed."""
    try:
        value = orjson.loads(answer)
    except orjson.JSONDecodeError:
        value = _decoded_yaml(answer)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _unreadable(NOT_AN_OBJECT.format(found=json_type(value)))
    return value


def _decoded_yaml(answer: bytes) -> Any:
    if answer.lstrip().startswith(b"{"):
        raise _unreadable(json_errors.describe(answer) or "invalid character")
    try:
        return orjson.loads(yaml.read(answer).json)
    except ValueError as exc:
        raise _unreadable(str(exc)) from exc


def _unreadable(why: str) -> WebhookFailed:
    return WebhookFailed(f"couldn't get version/kind; json parse error: {why}")
