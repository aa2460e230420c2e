"""Posting: documents to webhooks over HTTPS, as kube-apiserver's client sends them.

The owner of the connections; where a webhook is, and what is sent, others know. Must hold: a kept connection that its
webhook has closed meanwhile is no failure of the webhook; one that asks for patience is asked again, so often and no
more; no redirect is followed, no answer is longer than what is read of any request, and each call has an end; what
this server shows to a webhook as its credentials is told to nobody else, whatever the webhook says.
"""

import asyncio
import ssl
from collections.abc import Mapping
from typing import Any

import aiohttp
import yarl
from aiohttp import hdrs
from aiohttp.abc import AbstractResolver
from msgspec import Struct

from aio_apiserver.apiserver.outgoing import webhook_words
from aio_apiserver.apiserver.wire import bodies
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.webhook_calls import OutOfTime, WebhookFailed
from aio_apiserver.storage.clock import Clock

_MOST_RETRIES = 10
"""Of a webhook that says when to come back."""
_MOST_DIGITS = 9
_TOO_MANY, _SERVER_ERRORS = 429, 500


class Message(Struct, frozen=True):
    """What is sent, and to whom: a URL, and what its server has to show to be believed."""

    url: str
    trust: ssl.SSLContext
    data: bytes
    headers: Mapping[str, str]

    def without_credentials(self, body: bytes) -> bytes:
        """An answer, which is told to others when it is no success, without what only its webhook was told."""
        credentials = self.headers.get(hdrs.AUTHORIZATION, "").partition(" ")[2].encode()
        return body.replace(credentials, webhook_words.HIDDEN.encode()) if credentials else body


class Answer(Struct, frozen=True):
    """What came back. retry_after: seconds after which the webhook wants to be asked again; -1 if it does not say."""

    status: int
    media_type: str
    retry_after: int
    body: bytes

    @property
    def asks_for_patience(self) -> bool:
        return self.retry_after >= 0 and (self.status == _TOO_MANY or self.status >= _SERVER_ERRORS)


class Poster:
    """Sends, and keeps connections for the next message to the same place under the same trust."""

    def __init__(self, clock: Clock, resolver: AbstractResolver | None = None) -> None:
        self._clock = clock
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """End every connection."""
        if self._session is not None:
            await self._session.close()

    async def post(self, message: Message, *, seconds: float) -> Answer:
        """The answer to a message, whatever it is. Raises WebhookFailed when there is none."""
        try:
            async with asyncio.timeout(seconds):
                return await self._post_patiently(message)
        except TimeoutError as exc:
            raise OutOfTime(f"Post {quote(webhook_words.shown(message.url))}: context deadline exceeded") from exc
        except (aiohttp.ClientError, OSError, ValueError, WebhookFailed) as exc:
            why = f"Post {quote(webhook_words.shown(message.url))}: {webhook_words.of_failure(exc)}"
            raise WebhookFailed(why, may_pass=webhook_words.is_reset(exc)) from exc

    async def _post_patiently(self, message: Message) -> Answer:
        for _ in range(_MOST_RETRIES):
            answer = await self._post(message)
            if not answer.asks_for_patience:
                return answer
            await self._clock.sleep(answer.retry_after)
        return await self._post(message)

    async def _post(self, message: Message) -> Answer:
        for is_last in (False, True):
            connection = _Connection()
            try:
                return await self._exchange(message, connection)
            except (aiohttp.ServerDisconnectedError, ConnectionResetError):
                # A webhook may close a kept connection at any time: that is no failure of the webhook.
                if is_last or not connection.is_kept:
                    raise
        raise AssertionError

    async def _exchange(self, message: Message, connection: "_Connection") -> Answer:
        posting = self._opened().post(
            yarl.URL(message.url, encoded=True),
            data=message.data,
            headers=message.headers,
            ssl=message.trust,
            allow_redirects=False,
            trace_request_ctx=connection,
        )
        async with posting as response:
            headers = response.headers
            media_type, wait = headers.get(hdrs.CONTENT_TYPE, ""), _seconds(headers.get(hdrs.RETRY_AFTER, ""))
            return Answer(response.status, media_type, wait, message.without_credentials(await _read(response)))

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, resolver=self._resolver, use_dns_cache=False),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(),
                trace_configs=[_noting_kept_connections()],
            )
        return self._session


class _Connection:
    """What is known of the connection of one call."""

    is_kept = False


def _noting_kept_connections() -> aiohttp.TraceConfig:
    config = aiohttp.TraceConfig()

    async def note(_session: Any, context: Any, _parameters: Any) -> None:
        context.trace_request_ctx.is_kept = True

    config.on_connection_reuseconn.append(note)
    return config


def _seconds(text: str) -> int:
    """What a Retry-After says in seconds; -1 when it says none, or a date."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else -1


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The whole answer. Raises ValueError when it is longer than what is read."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > bodies.LIMIT:
            raise ValueError(f"http: response body too large: limit is {bodies.LIMIT}")
    return bytes(body)
