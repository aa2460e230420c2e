"""Webhook targets: the address of a webhook from its `clientConfig`, for admission and conversion webhooks.

Must hold: the certificate of a webhook is verified with its caBundle, or without one with the authorities of the
machine. A service is called at its address, and its certificate must have its DNS name.
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
from aiohttp import hdrs
from aiohttp.abc import AbstractResolver, ResolveResult

from aio_apiserver.apiserver.outgoing import webhook_files, webhook_words
from aio_apiserver.apiserver.outgoing.webhook_credentials import Credential
from aio_apiserver.apiserver.tls import bundles
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.webhook_calls import Unusable, WebhookFailed

ServiceAddress = Callable[[str, str, int], Awaitable[str]]
"""The address of a service (or its external name), by namespace, name and port. Raises WebhookFailed."""

_HEADERS: Mapping[str, str] = {
    hdrs.CONTENT_TYPE: "application/json",
    hdrs.ACCEPT: "application/json, */*",
    hdrs.USER_AGENT: "kube-apiserver-admission",
}
_HTTPS = 443
_SERVICE = ".svc"
_MOST_TRUSTS = 256
_PLAIN_IN_PATHS = "$&+,/:;=@"


class WebhookTarget(NamedTuple):
    """The address of a webhook. service: its namespace and name, which no DNS resolves here; None for a URL."""

    url: str
    host: str
    port: int
    service: tuple[str, str] | None = None

    @property
    def is_service(self) -> bool:
        return self.service is not None

    async def check(self, address_of: ServiceAddress) -> None:
        """Raises WebhookFailed for a missing service. A failing DNS lookup would have another message."""
        assert self.service is not None
        try:
            await address_of(*self.service, self.port)
        except WebhookFailed as exc:
            raise self._not_posted(exc) from exc

    def headers(self, credential: Credential) -> Mapping[str, str]:
        """The headers of a request. Raises WebhookFailed when the token file cannot be read."""
        try:
            return {**_HEADERS, **credential.headers()}
        except OSError as exc:
            raise self._not_posted(exc) from exc

    def _not_posted(self, exc: Exception) -> WebhookFailed:
        return WebhookFailed(f"Post {quote(self.url)}: {webhook_words.of_failure(exc)}")


def of(client: Mapping[str, Any], seconds: float) -> WebhookTarget:
    """The target of a clientConfig. `seconds` goes into the query as the timeout."""
    query = f"?timeout={math.ceil(seconds)}s"
    service = client.get("service")
    if service is None:
        url = urlsplit(client["url"])
        place = f"{url.scheme}://{url.netloc}{_clean(unquote(url.path))}"
        return WebhookTarget(f"{place}{query}", url.hostname or "", url.port or _HTTPS)
    host, port = f"{service['name']}.{service['namespace']}{_SERVICE}", service.get("port") or _HTTPS
    place = f"https://{host}:{port}{_clean(service.get('path') or '')}"
    return WebhookTarget(f"{place}{query}", host, port, (service["namespace"], service["name"]))


class ServiceResolver(AbstractResolver):
    """Resolves services to their addresses. Certificates are still verified for their names."""

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
        """Nothing has to be closed."""


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _clean(path: str) -> str:
    """A clean path: without empty segments and without a trailing slash."""
    return escaped(posixpath.normpath(f"/{path.lstrip('/')}"), safe=_PLAIN_IN_PATHS)


@lru_cache(maxsize=_MOST_TRUSTS)
def trust(authorities: str, certificate: str) -> ssl.SSLContext:
    """The TLS context for a caBundle (without one, the authorities of the machine), with a client certificate.

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
