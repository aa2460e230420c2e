"""WebhookClient: sends reviews to webhooks over HTTPS, to where their configurations say that they are.

Admission and conversion share it. Must hold: a webhook is trusted by the CA bundle of its configuration, or else by the
authorities of the machine; it is shown what is meant for its place.
"""

import ipaddress
import math
import posixpath
import ssl
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote as escaped
from urllib.parse import unquote, urlsplit

import aiohttp
import orjson
from aiohttp import hdrs
from aiohttp.abc import AbstractResolver, ResolveResult

from aio_apiserver.apiserver.metrics.outgoing import OutgoingMetrics
from aio_apiserver.apiserver.outgoing import webhook_answers, webhook_files, webhook_words
from aio_apiserver.apiserver.outgoing.client import Answer, Message, Poster
from aio_apiserver.apiserver.outgoing.webhook_credentials import Credential, Credentials
from aio_apiserver.apiserver.tls import bundles
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.webhook_calls import Unusable, WebhookFailed
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.stored_object import Object

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
_PLAIN_IN_PATHS = "$&+,/:;=@"


class _Target(NamedTuple):
    """Where a webhook is; `is_service` when its name is that of a service, which no DNS knows here."""

    url: str
    host: str
    port: int
    is_service: bool


_NOBODY = Credentials()
_NONE: Mapping[str, Credentials] = {}


class WebhookClient:
    """The connections of one server to its webhooks, by what it shows them on behalf of its plugins."""

    def __init__(
        self,
        address_of: ServiceAddress,
        clock: Clock,
        *,
        credentials: Mapping[str, Credentials] = _NONE,
        metrics: OutgoingMetrics | None = None,
    ) -> None:
        self._address_of = address_of
        self._clock = clock
        self._credentials = credentials
        self._metrics = metrics or OutgoingMetrics()
        self._to_services = Poster(clock, _Services(address_of))
        self._to_others = Poster(clock)

    async def close(self) -> None:
        """End every connection."""
        await self._to_services.close()
        await self._to_others.close()

    async def __call__(self, client: Mapping[str, Any], body: Object, *, seconds: float, plugin: str = "") -> Object:
        """The answer of a webhook. Raises WebhookFailed."""
        target = _target(client)
        credential = self._credentials.get(plugin, _NOBODY).of(target.host, target.port)
        trust = _trust(client.get("caBundle") or "", credential.certificate)
        shown = f"{target.url}?timeout={math.ceil(seconds)}s"
        if target.is_service:
            await self._check_service(shown, client["service"], target.port)
        message = Message(shown, trust, orjson.dumps(body), {**_HEADERS, **_told(shown, credential)})
        poster = self._to_services if target.is_service else self._to_others
        return webhook_answers.read(await self._posted(poster, message, seconds, f"{target.host}:{target.port}"))

    async def _posted(self, poster: Poster, message: Message, seconds: float, host: str) -> Answer:
        began, sent = self._clock.monotonic(), len(message.data)
        try:
            answer = await poster.post(message, seconds=seconds)
        except WebhookFailed:
            self._metrics.failed(host, self._clock.monotonic() - began, sent=sent)
            raise
        self._metrics.answered(
            host, answer.status, self._clock.monotonic() - began, sent=sent, received=len(answer.body)
        )
        return answer

    async def _check_service(self, shown: str, service: Mapping[str, Any], port: int) -> None:
        """A service that is not there is told as such, not as a name that nobody knows."""
        try:
            await self._address_of(service["namespace"], service["name"], port)
        except WebhookFailed as exc:
            raise _not_posted(shown, exc) from exc


def _told(shown: str, credential: Credential) -> Mapping[str, str]:
    try:
        return credential.headers()
    except OSError as exc:
        raise _not_posted(shown, exc) from exc


def _not_posted(shown: str, exc: Exception) -> WebhookFailed:
    return WebhookFailed(f"Post {quote(shown)}: {webhook_words.of_failure(exc)}")


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
    try:
        context = bundles.trusting_bundle(authorities)
    except bundles.NoTrust as exc:
        raise Unusable(str(exc)) from exc
    if certificate:
        try:
            webhook_files.show(certificate, context)
        except ssl.SSLError as exc:
            raise Unusable("tls: failed to find any PEM data in certificate input") from exc
    return context
