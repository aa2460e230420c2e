"""webhook_targets: where the `clientConfig` of a webhook configuration points, and how its server proves itself.

Admission and conversion share it. Must hold: a webhook shows a certificate of its configuration's CA bundle. Without a
bundle the authorities of the machine count. A service is called at its address, and its certificate has its name.
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


class WebhookTarget(NamedTuple):
    """Where a webhook is; service: its namespace and name, if it has one, which no DNS knows here."""

    url: str
    host: str
    port: int
    service: tuple[str, str] | None = None

    @property
    def is_service(self) -> bool:
        return self.service is not None

    async def check(self, address_of: ServiceAddress) -> None:
        """Raises WebhookFailed for a service that is not there. A failing DNS lookup would have other words."""
        assert self.service is not None
        try:
            await address_of(*self.service, self.port)
        except WebhookFailed as exc:
            raise self._not_posted(exc) from exc

    def headers(self, credential: Credential) -> Mapping[str, str]:
        """Of a request. Raises WebhookFailed when the file of a token cannot be read."""
        try:
            return {**_HEADERS, **credential.headers()}
        except OSError as exc:
            raise self._not_posted(exc) from exc

    def _not_posted(self, exc: Exception) -> WebhookFailed:
        return WebhookFailed(f"Post {quote(self.url)}: {webhook_words.of_failure(exc)}")


def of(client: Mapping[str, Any], seconds: float) -> WebhookTarget:
    """The target of a clientConfig, which is told how many seconds it has."""
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


def _clean(path: str) -> str:
    """A path as it is asked for: without empty steps and without a slash at its end."""
    return escaped(posixpath.normpath(f"/{path.lstrip('/')}"), safe=_PLAIN_IN_PATHS)


@lru_cache(maxsize=_MOST_TRUSTS)
def trust(authorities: str, certificate: str) -> ssl.SSLContext:
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
