"""Outgoing: the documents and reviews that this server asks others for, over HTTPS.

The owner of the connections. Must hold: a place is trusted by the CA that its configuration names, or else by those of
the machine; no redirect is followed, nothing but HTTPS is spoken, and no answer is read beyond a bound.
"""

import asyncio
import base64
import ssl
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from aiohttp import hdrs

from registry.access.oidc import Fetch
from registry.access.remote import Ask, Unanswered
from storage import strict_yaml
from storage.clock import Clock
from storage.stored_object import Object

_TIMEOUT_SECONDS = 10.0
_LONGEST_SECONDS = 30.0
_MOST_BYTES = 1 << 20
_PAUSES = (0.5, 0.75, 1.125, 1.6875)
"""Seconds between tries of a webhook that is not well."""
_BUSY = frozenset({429, 500, 502, 503, 504})
_MADE = range(200, 300)


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where reviews go, and with what."""

    url: str
    tls: ssl.SSLContext
    token: str = ""
    timeout: float = _TIMEOUT_SECONDS


class Outgoing:
    """Asks on behalf of one server."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """End every connection."""
        if self._session is not None:
            await self._session.close()

    def fetcher(self, tls: ssl.SSLContext) -> Fetch:
        """Fetches documents from places that a context trusts."""

        async def fetch(url: str) -> bytes:
            if not url.startswith("https://"):
                raise OSError(f"{url} is not of https")
            try:
                status, body = await self._exchange(hdrs.METH_GET, url, tls)
            except (aiohttp.ClientError, TimeoutError) as exc:
                raise OSError(f"cannot get {url}: {exc}") from exc
            if status not in _MADE:
                raise OSError(f"cannot get {url}: status {status}")
            return body

        return fetch

    def asker(self, webhook: Webhook) -> Ask:
        """Sends reviews to a webhook, again when it is not well."""

        async def ask(review: Object) -> Object:
            failure = ""
            for pause in (*_PAUSES, 0.0):
                try:
                    status, body = await self._post(webhook, review)
                except (aiohttp.ClientError, OSError) as exc:
                    failure = str(exc) or type(exc).__name__
                else:
                    if status in _MADE:
                        return _object(body)
                    failure = f"the webhook answered with status {status}"
                    if status not in _BUSY:
                        break
                if pause:
                    await self._clock.sleep(pause)
            raise Unanswered(f"failed to call webhook: {failure}")

        return ask

    def poster(self, webhook: Webhook, pauses: Sequence[float]) -> Callable[[Object], Awaitable[None]]:
        """Sends documents to a webhook, whatever it answers; again after each pause when it fails."""

        async def post(document: Object) -> None:
            failure = ""
            for pause in (*pauses, 0.0):
                try:
                    status, _ = await self._post(webhook, document)
                except (aiohttp.ClientError, OSError) as exc:
                    failure = str(exc) or type(exc).__name__
                else:
                    if status in _MADE:
                        return
                    failure = f"the webhook answered with status {status}"
                if pause:
                    await self._clock.sleep(pause)
            raise Unanswered(failure)

        return post

    async def _post(self, webhook: Webhook, review: Object) -> tuple[int, bytes]:
        headers: dict[str, str] = {hdrs.CONTENT_TYPE: "application/json", hdrs.ACCEPT: "application/json"}
        if webhook.token:
            headers[hdrs.AUTHORIZATION] = f"Bearer {webhook.token}"
        async with asyncio.timeout(webhook.timeout):
            return await self._exchange(hdrs.METH_POST, webhook.url, webhook.tls, orjson.dumps(review), headers)

    async def _exchange(
        self,
        method: str,
        url: str,
        tls: ssl.SSLContext,
        data: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> tuple[int, bytes]:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=_LONGEST_SECONDS)
            self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), timeout=timeout)
        asking = self._session.request(method, url, data=data, headers=headers, ssl=tls, allow_redirects=False)
        async with asking as response:
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > _MOST_BYTES:
                    raise OSError(f"the answer has more than {_MOST_BYTES} bytes")
            return response.status, bytes(body)


def _object(body: bytes) -> Object:
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as exc:
        raise Unanswered(f"failed to call webhook: {exc}") from exc
    if not isinstance(value, dict):
        raise Unanswered("failed to call webhook: the answer is no object")
    return value


def trusting(authority: str) -> ssl.SSLContext:
    """The TLS of a client that trusts the CAs in PEM; without any, those of the machine. Raises OSError."""
    return ssl.create_default_context(cadata=authority or None)


def webhook_of(path: Path) -> Webhook:
    """What a webhook's kubeconfig file says: its cluster is the webhook, its user this server. Raises ValueError."""
    try:
        config = strict_yaml.load(path.read_bytes())
        context = _named(config, "contexts", "context", config.get("current-context") or "")
        cluster = _named(config, "clusters", "cluster", context.get("cluster", ""))
        user = _named(config, "users", "user", context.get("user", "")) if context.get("user") else {}
        return Webhook(_server(cluster), _tls(cluster, user, path.parent), _token(user, path.parent))
    except (AttributeError, KeyError, TypeError, ssl.SSLError) as exc:
        raise ValueError(f"{path}: is no kubeconfig file of a webhook: {exc}") from exc


def _named(config: Any, plural: str, singular: str, name: str) -> dict[str, Any]:
    """An entry of a kubeconfig by its name; the only one when there is no name."""
    entries = config.get(plural) or []
    found = [entry[singular] for entry in entries if not name or entry.get("name") == name]
    if len(found) != 1 or not isinstance(found[0], dict):
        raise ValueError(f"it must have one {singular} named {name!r}")
    return found[0]


def _server(cluster: dict[str, Any]) -> str:
    server = str(cluster.get("server", ""))
    if not server.startswith("https://"):
        raise ValueError("the server of its cluster must be an https URL")
    return server


def _tls(cluster: dict[str, Any], user: dict[str, Any], directory: Path) -> ssl.SSLContext:
    authority = _data(cluster, "certificate-authority", directory)
    tls = ssl.create_default_context(cadata=authority.decode() if authority else None)
    if cluster.get("insecure-skip-tls-verify"):
        tls.check_hostname = False
        tls.verify_mode = ssl.CERT_NONE
    certificate, key = (_data(user, name, directory) for name in ("client-certificate", "client-key"))
    if certificate and key:
        with tempfile.NamedTemporaryFile() as pair:  # the ssl module reads certificates from files alone
            pair.write(certificate + b"\n" + key)
            pair.flush()
            tls.load_cert_chain(pair.name)
    return tls


def _token(user: dict[str, Any], directory: Path) -> str:
    if "tokenFile" in user:
        return Path(directory, user["tokenFile"]).read_text().strip()
    return str(user.get("token", ""))


def _data(entry: dict[str, Any], name: str, directory: Path) -> bytes:
    """What stands in an entry itself, or in the file that it names."""
    if inline := entry.get(f"{name}-data"):
        return base64.b64decode(inline)
    return (directory / entry[name]).read_bytes() if entry.get(name) else b""
