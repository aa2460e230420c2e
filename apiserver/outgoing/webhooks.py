"""Outgoing: the documents and reviews that this server asks others for, over HTTPS.

The owner of the connections. Must hold: a place is trusted by the CA that its configuration names, or else by those of
the machine; no redirect is followed, nothing but HTTPS is spoken, and no answer is read beyond a bound; a webhook is
asked again as often as kube-apiserver does it, after pauses that grow.
"""

import asyncio
import random
import ssl
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import aiohttp
import orjson
from aiohttp import hdrs

from aio_apiserver.apiserver.outgoing import webhook_answers, webhook_files
from aio_apiserver.apiserver.outgoing.client import Answer, Message, Poster
from aio_apiserver.apiserver.outgoing.webhook_files import Webhook
from aio_apiserver.registry.base.golang import durations
from aio_apiserver.registry.generic.webhook_calls import FIRST_PAUSE, Ask, OutOfTime, WebhookFailed
from aio_apiserver.registry.plugins.authentication.oidc import Fetch
from aio_apiserver.registry.plugins.authorization.authorization_metrics import Told
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.stored_object import Object

_LONGEST_SECONDS = 30.0
_MOST_BYTES = 1 << 20
_MADE = range(200, 300)
_GATEWAY_TIMEOUT = 504
_TRIES, _FACTOR, _JITTER = 5, 1.5, 0.2
"""Of a webhook that is not well: how often it is asked, by how much pauses grow, and which part of them is random."""


def _tell_nobody(_result: str, _seconds: float) -> None:
    """Where calls are not counted."""


class Outgoing:
    """Asks on behalf of one server."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._poster = Poster(clock)
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """End every connection."""
        await self._poster.close()
        if self._session is not None:
            await self._session.close()

    def webhook_of(self, path: Path) -> Webhook:
        """The webhook that a kubeconfig file describes. Raises OSError, ValueError."""
        return webhook_files.read(path, self._clock)

    def open_webhook(self, file: Path, *, first_pause: float = FIRST_PAUSE) -> Ask:
        """Sends reviews to the webhook of a file. Raises OSError, ValueError."""
        return self.asker(self.webhook_of(file), first_pause=first_pause)

    def asker(self, webhook: Webhook, *, first_pause: float = FIRST_PAUSE, told: Told = _tell_nobody) -> Ask:
        """Sends reviews to a webhook, again when it is not well and may be well soon. `told` hears of each call."""

        async def ask_once(review: Object) -> Object:
            began, result = self._clock.monotonic(), "error"
            try:
                answer = webhook_answers.read(await self._post(webhook, review))
                result = "success"
            except WebhookFailed as exc:
                if isinstance(exc, OutOfTime) or exc.code == _GATEWAY_TIMEOUT:
                    result = "timeout"
                raise
            except asyncio.CancelledError:
                result = "canceled"
                raise
            finally:
                told(result, self._clock.monotonic() - began)
            return answer

        async def ask(review: Object) -> Object:
            for pause in _pauses(first_pause):
                try:
                    return await ask_once(review)
                except WebhookFailed as exc:
                    if not exc.may_pass:
                        raise
                await self._clock.sleep(pause)
            return await ask_once(review)

        return ask

    def poster(self, webhook: Webhook, *, first_pause: float) -> Callable[[Object], Awaitable[None]]:
        """Sends documents to a webhook, whatever it answers; again after each pause when it fails."""

        async def post(document: Object) -> None:
            for pause in _pauses(first_pause):
                try:
                    return webhook_answers.check(await self._post(webhook, document))
                except WebhookFailed:
                    await self._clock.sleep(pause)
            return webhook_answers.check(await self._post(webhook, document))

        return post

    def fetcher(self, tls: ssl.SSLContext) -> Fetch:
        """Fetches documents from places that a context trusts."""

        async def fetch(url: str) -> bytes:
            if not url.startswith("https://"):
                raise OSError(f"{url} is not of https")
            try:
                status, body = await self._get(url, tls)
            except (aiohttp.ClientError, TimeoutError) as exc:
                raise OSError(f"cannot get {url}: {exc}") from exc
            if status not in _MADE:
                raise OSError(f"cannot get {url}: status {status}")
            return body

        return fetch

    async def _post(self, webhook: Webhook, document: Object) -> Answer:
        """Raises WebhookFailed."""
        try:
            told = webhook.credential.headers()
        except OSError as exc:
            raise WebhookFailed(f"the token for {webhook.url} cannot be read: {exc.strerror}") from exc
        url = f"{webhook.url}{'&' if '?' in webhook.url else '?'}timeout={durations.show(webhook.timeout)}"
        headers = {hdrs.CONTENT_TYPE: "application/json", hdrs.ACCEPT: "application/json, */*", **told}
        message = Message(url, webhook.trust.context(), orjson.dumps(document), headers)
        return await self._poster.post(message, seconds=webhook.timeout)

    async def _get(self, url: str, tls: ssl.SSLContext) -> tuple[int, bytes]:
        if self._session is None:
            timeout = aiohttp.ClientTimeout(total=_LONGEST_SECONDS)
            self._session = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar(), timeout=timeout)
        async with self._session.get(url, ssl=tls, allow_redirects=False) as response:
            body = bytearray()
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > _MOST_BYTES:
                    raise OSError(f"the answer has more than {_MOST_BYTES} bytes")
            return response.status, bytes(body)


def _pauses(first: float) -> Iterator[float]:
    """Seconds between tries, a little more than they should be, so that not all ask again at once."""
    for number in range(_TRIES - 1):
        yield first * _FACTOR**number * (1 + _JITTER * random.random())  # noqa: S311 - spreads load, guards nothing
