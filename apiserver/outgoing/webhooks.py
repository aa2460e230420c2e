"""Webhooks: the client of all webhooks: admission, conversion, authentication, authorization, image policy and audit.

A `clientConfig` (webhook_targets.py) or a kubeconfig file (webhook_files.py) describes a webhook. Must hold: the
certificate of a webhook is verified with the CA of its configuration, or without one with those of the machine. A
webhook gets just the credentials for its host. A webhook of a kubeconfig file is retried as in kube-apiserver.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import orjson

from aio_apiserver.apiserver.metrics.outgoing import OutgoingMetrics
from aio_apiserver.apiserver.outgoing import webhook_answers, webhook_files, webhook_targets
from aio_apiserver.apiserver.outgoing.client import HTTPSAnswer, HTTPSClient, HTTPSRequest, NoAnswer
from aio_apiserver.apiserver.outgoing.webhook_credentials import WebhookCredentials
from aio_apiserver.apiserver.outgoing.webhook_files import FileWebhook
from aio_apiserver.apiserver.outgoing.webhook_targets import ServiceAddress, ServiceResolver, WebhookTarget
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.jitter import chance
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.webhook_calls import FIRST_PAUSE, Ask, OutOfTime, WebhookFailed
from aio_apiserver.registry.plugins.authorization.authorization_metrics import Called

Post = Callable[[Object], Awaitable[None]]
"""Sends a document, with retries. Raises WebhookFailed."""

_GATEWAY_TIMEOUT = 504
_TRIES, _FACTOR, _JITTER = 5, 1.5, 0.2
"""Retries of a failing webhook: the number of tries, the growth of pauses, and the random part of each pause."""
_NO_CREDENTIALS: Mapping[str, WebhookCredentials] = {}
_ANONYMOUS = WebhookCredentials()

T = TypeVar("T")


def _uncounted(_result: str, _seconds: float) -> None:
    """The default for `counted`: count nothing."""


class WebhookClient:
    """The webhook client of one server. credentials: by admission plugin."""

    def __init__(
        self,
        address_of: ServiceAddress,
        clock: Clock,
        *,
        credentials: Mapping[str, WebhookCredentials] = _NO_CREDENTIALS,
        metrics: OutgoingMetrics | None = None,
    ) -> None:
        self._address_of = address_of
        self._clock = clock
        self._credentials = credentials
        self._metrics = metrics or OutgoingMetrics()
        self._to_services = HTTPSClient(clock, ServiceResolver(address_of))
        self._to_others = HTTPSClient(clock)

    async def close(self) -> None:
        """Close every connection."""
        await self._to_services.close()
        await self._to_others.close()

    async def __call__(self, client: Mapping[str, Any], body: Object, *, seconds: float, plugin: str = "") -> Object:
        """The response of the webhook of a clientConfig. Raises WebhookFailed."""
        target = webhook_targets.of(client, seconds)
        credential = self._credentials.get(plugin, _ANONYMOUS).of(target.host, target.port)
        trust = webhook_targets.trust(client.get("caBundle") or "", credential.certificate)
        if target.is_service:
            await target.check(self._address_of)
        request = HTTPSRequest(target.url, trust, orjson.dumps(body), target.headers(credential))
        return await webhook_answers.read(await self._counted(target, request, seconds), target.host)

    def read(self, path: Path) -> FileWebhook:
        """The webhook of a kubeconfig file. Raises OSError, ValueError."""
        return webhook_files.read(path, self._clock)

    def open_webhook(self, file: Path, *, first_pause: float = FIRST_PAUSE) -> Ask:
        """A function that sends reviews to the webhook of a kubeconfig file. Raises OSError, ValueError."""
        return self.asker(self.read(file), first_pause=first_pause)

    def asker(self, webhook: FileWebhook, *, first_pause: float = FIRST_PAUSE, counted: Called = _uncounted) -> Ask:
        """A function that sends reviews to a webhook, with retries. `counted` counts each call."""

        async def ask(review: Object) -> Object:
            async def ask_once() -> Object:
                with _timed(counted, self._clock):
                    return await webhook_answers.read(await self._sent(webhook, review), webhook.url)

            return await self._tried(ask_once, first_pause, lambda failure: failure.may_pass)

        return ask

    def poster(self, webhook: FileWebhook, *, first_pause: float) -> Post:
        """A function that sends documents to a webhook and ignores response bodies. It retries after each pause."""

        async def post(document: Object) -> None:
            async def post_once() -> None:
                webhook_answers.check(await self._sent(webhook, document))

            await self._tried(post_once, first_pause, lambda _failure: True)

        return post

    async def _tried(
        self, send: Callable[[], Awaitable[T]], first_pause: float, may_retry: Callable[[WebhookFailed], bool]
    ) -> T:
        for pause in _pauses(first_pause):
            try:
                return await send()
            except WebhookFailed as exc:
                if not may_retry(exc):
                    raise
            await self._clock.sleep(pause)
        return await send()

    async def _sent(self, webhook: FileWebhook, document: Object) -> HTTPSAnswer:
        return await _posted(self._to_others, webhook.request(document), webhook.timeout)

    async def _counted(self, target: WebhookTarget, request: HTTPSRequest, seconds: float) -> HTTPSAnswer:
        began, sent, host = self._clock.monotonic(), len(request.data or b""), f"{target.host}:{target.port}"
        try:
            answer = await _posted(self._to_services if target.is_service else self._to_others, request, seconds)
        except WebhookFailed:
            self._metrics.failed(host, self._clock.monotonic() - began, sent=sent)
            raise
        taken = self._clock.monotonic() - began
        self._metrics.answered(host, answer.status, taken, sent=sent, received=len(answer.body))
        return answer


async def _posted(client: HTTPSClient, request: HTTPSRequest, seconds: float) -> HTTPSAnswer:
    """Send a request. Raises WebhookFailed."""
    try:
        return await client.post(request, seconds=seconds)
    except NoAnswer as exc:
        if exc.is_late:
            raise OutOfTime(str(exc)) from exc
        raise WebhookFailed(str(exc), may_pass=exc.may_pass) from exc


@contextmanager
def _timed(counted: Called, clock: Clock) -> Iterator[None]:
    """Count a call with its result and duration."""
    began, result = clock.monotonic(), "error"
    try:
        yield
        result = "success"
    except WebhookFailed as exc:
        if isinstance(exc, OutOfTime) or exc.code == _GATEWAY_TIMEOUT:
            result = "timeout"
        raise
    except asyncio.CancelledError:
        result = "canceled"
        raise
    finally:
        counted(result, clock.monotonic() - began)


def _pauses(first: float) -> Iterator[float]:
    """Seconds between tries, with a random part, so that clients do not retry at the same time."""
    for number in range(_TRIES - 1):
        yield first * _FACTOR**number * (1 + _JITTER * chance.random())
