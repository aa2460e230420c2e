"""Client: the HTTPS client of this server, for webhooks and documents.

It opens the connections. It must not know webhooks.

Must hold: a kept connection that the server closed does not fail the call. A response with Retry-After is retried a
bounded number of times. Redirects are not followed, the size of a response is limited, and each call has a time limit.
Error messages do not contain credentials.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Mapping
from typing import Any

import aiohttp
import yarl
from aiohttp import hdrs
from aiohttp.abc import AbstractResolver
from msgspec import Struct

from aio_apiserver.apiserver.outgoing import answer_connections, client_spans, dial_words, webhook_words
from aio_apiserver.apiserver.outgoing.answer_connections import BoundedConnector
from aio_apiserver.apiserver.wire import bodies
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base.golang.quoting import quote

_MOST_RETRIES = 10
"""Retries of a request whose response has Retry-After."""
_MOST_DIGITS = 9
_TOO_MANY, _SERVER_ERRORS = 429, 500
_NO_HEADERS: Mapping[str, str] = {}


class NoAnswer(Exception):
    """There is no response; the message has the reason in the words of Go's client.

    is_late: the time limit was over. may_pass: a retry may succeed.
    """

    def __init__(self, message: str, *, is_late: bool = False, may_pass: bool = False) -> None:
        super().__init__(message)
        self.is_late = is_late
        self.may_pass = may_pass


class HTTPSRequest(Struct, frozen=True):
    """A request: its URL, its body and headers, and the TLS context that verifies the server."""

    url: str
    trust: ssl.SSLContext
    data: bytes | None = None
    headers: Mapping[str, str] = _NO_HEADERS

    def without_credentials(self, body: bytes) -> bytes:
        """A response body for an error message, without the credentials of the request."""
        credentials = self.headers.get(hdrs.AUTHORIZATION, "").partition(" ")[2].encode()
        return body.replace(credentials, webhook_words.HIDDEN.encode()) if credentials else body


class HTTPSAnswer(Struct, frozen=True):
    """A response. retry_after: the seconds of Retry-After; -1 without one."""

    status: int
    media_type: str
    retry_after: int
    body: bytes

    @property
    def wants_retry(self) -> bool:
        return self.retry_after >= 0 and (self.status == _TOO_MANY or self.status >= _SERVER_ERRORS)


def command_session(seconds: float) -> aiohttp.ClientSession:
    """A session for a command that talks to one cluster; it connects within so many seconds, and has no other limit."""
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=seconds)
    return answer_connections.session(BoundedConnector(), timeout=timeout)


class HTTPSClient:
    """Sends requests, and keeps connections for the next request to the same host with the same TLS context."""

    def __init__(self, clock: Clock, resolver: AbstractResolver | None = None) -> None:
        self._clock = clock
        self._resolver = resolver
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()

    async def post(self, request: HTTPSRequest, *, seconds: float) -> HTTPSAnswer:
        """The response to a POST, of any status; retried as Retry-After says. Raises NoAnswer."""
        return await _within(seconds, f"Post {_url_text(request)}", self._post_with_retries(request))

    async def get(self, request: HTTPSRequest, *, seconds: float) -> HTTPSAnswer:
        """The response to a GET, of any status. Raises NoAnswer."""
        return await _within(
            seconds, f"Get {_url_text(request)}", self._exchange(hdrs.METH_GET, request, _Connection())
        )

    async def _post_with_retries(self, request: HTTPSRequest) -> HTTPSAnswer:
        for _ in range(_MOST_RETRIES):
            answer = await self._post(request)
            if not answer.wants_retry:
                return answer
            await self._clock.sleep(answer.retry_after)
        return await self._post(request)

    async def _post(self, request: HTTPSRequest) -> HTTPSAnswer:
        for is_last in (False, True):
            connection = _Connection()
            try:
                return await self._exchange(hdrs.METH_POST, request, connection)
            except (aiohttp.ServerDisconnectedError, ConnectionResetError):
                # A server may close a kept connection at any time; the request is sent again on a new one.
                if is_last or not connection.is_kept:
                    raise
        raise AssertionError

    async def _exchange(self, method: str, request: HTTPSRequest, connection: "_Connection") -> HTTPSAnswer:
        with client_spans.begun(method, request.url) as span:
            answering = self._opened().request(
                method,
                yarl.URL(request.url, encoded=True),
                data=request.data,
                headers={**request.headers, **span.headers},
                ssl=request.trust,
                allow_redirects=False,
                trace_request_ctx=connection,
            )
            async with answering as response:
                client_spans.answered(span, response.status)
                headers = response.headers
                media_type, wait = headers.get(hdrs.CONTENT_TYPE, ""), _seconds(headers.get(hdrs.RETRY_AFTER, ""))
                body = request.without_credentials(await _read(response))
                return HTTPSAnswer(response.status, media_type, wait, body)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = answer_connections.session(
                BoundedConnector(resolver=self._resolver, use_dns_cache=False),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(),
                trace_configs=[_noting_kept_connections()],
            )
        return self._session


def _url_text(request: HTTPSRequest) -> str:
    return quote(webhook_words.redacted(request.url))


async def _within(seconds: float, what: str, answering: Awaitable[HTTPSAnswer]) -> HTTPSAnswer:
    """The response within the time limit. Raises NoAnswer."""
    try:
        async with asyncio.timeout(seconds):
            return await answering
    except TimeoutError as exc:
        raise NoAnswer(f"{what}: context deadline exceeded", is_late=True) from exc
    except (aiohttp.ClientError, OSError, ValueError) as exc:
        why = f"{what}: {dial_words.of_call(exc)}"
        raise NoAnswer(why, may_pass=dial_words.is_reset(exc)) from exc


class _Connection:
    """Whether the connection of one call was used before."""

    is_kept = False


def _noting_kept_connections() -> aiohttp.TraceConfig:
    config = aiohttp.TraceConfig()

    async def note(_session: Any, context: Any, _parameters: Any) -> None:
        context.trace_request_ctx.is_kept = True

    config.on_connection_reuseconn.append(note)
    return config


def _seconds(text: str) -> int:
    """The seconds of a Retry-After header; -1 for none, or for a date."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else -1


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The whole body. Raises ValueError when it is longer than the limit."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > bodies.LIMIT:
            raise ValueError(f"http: response body too large: limit is {bodies.LIMIT}")
    return bytes(body)
