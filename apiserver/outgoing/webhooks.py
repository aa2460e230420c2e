"""webhooks: this server as the client of webhooks, for admission, conversion, authentication, authorization and audit.

An object's `clientConfig` (webhook_targets.py) or a kubeconfig file (webhook_files.py) describes a webhook. Must hold:
the server trusts a webhook by the CA that its configuration names, or else by those of the machine. A webhook gets only
the credentials that are meant for its host. A failing webhook of a file is called as often as kube-apiserver calls it.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import orjson

from aio_apiserver.apiserver.metrics.outgoing import OutgoingMetrics
from aio_apiserver.apiserver.outgoing import webhook_answers, webhook_files, webhook_targets
from aio_apiserver.apiserver.outgoing.client import HTTPSAnswer, HTTPSClient, HTTPSRequest, NoAnswer
from aio_apiserver.apiserver.outgoing.webhook_credentials import Credentials
from aio_apiserver.apiserver.outgoing.webhook_files import FileWebhook
from aio_apiserver.apiserver.outgoing.webhook_targets import ServiceAddress, ServiceResolver, WebhookTarget
from aio_apiserver.registry.generic.webhook_calls import FIRST_PAUSE, Ask, OutOfTime, WebhookFailed
from aio_apiserver.registry.plugins.authorization.authorization_metrics import Told
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.stored_object import Object

Post = Callable[[Object], Awaitable[None]]
"""Sends a document, as often as it takes. Raises WebhookFailed."""

_GATEWAY_TIMEOUT = 504
_TRIES, _FACTOR, _JITTER = 5, 1.5, 0.2
"""Of a webhook that is not well: how often it is asked, by how much pauses grow, and which part of them is random."""
_NO_CREDENTIALS: Mapping[str, Credentials] = {}
_ANONYMOUS = Credentials()

T = TypeVar("T")


def _uncounted(_result: str, _seconds: float) -> None:
    """Where calls are not counted."""


class WebhookClient:
    """Of one server. credentials: by admission plugin, what it shows to webhooks."""

    def __init__(
        self,
        address_of: ServiceAddress,
        clock: Clock,
        *,
        credentials: Mapping[str, Credentials] = _NO_CREDENTIALS,
        metrics: OutgoingMetrics | None = None,
    ) -> None:
        self._address_of = address_of
        self._clock = clock
        self._credentials = credentials
        self._metrics = metrics or OutgoingMetrics()
        self._to_services = HTTPSClient(clock, ServiceResolver(address_of))
        self._to_others = HTTPSClient(clock)

    async def close(self) -> None:
        """End every connection."""
        await self._to_services.close()
        await self._to_others.close()

    async def __call__(self, client: Mapping[str, Any], body: Object, *, seconds: float, plugin: str = "") -> Object:
        """The answer of the webhook of a clientConfig. Raises WebhookFailed."""
        target = webhook_targets.of(client, seconds)
        credential = self._credentials.get(plugin, _ANONYMOUS).of(target.host, target.port)
        trust = webhook_targets.trust(client.get("caBundle") or "", credential.certificate)
        if target.is_service:
            await target.check(self._address_of)
        request = HTTPSRequest(target.url, trust, orjson.dumps(body), target.headers(credential))
        return webhook_answers.read(await self._counted(target, request, seconds))

    def read(self, path: Path) -> FileWebhook:
        """The webhook that a kubeconfig file describes. Raises OSError, ValueError."""
        return webhook_files.read(path, self._clock)

    def open_webhook(self, file: Path, *, first_pause: float = FIRST_PAUSE) -> Ask:
        """Sends reviews to the webhook of a file. Raises OSError, ValueError."""
        return self.asker(self.read(file), first_pause=first_pause)

    def asker(self, webhook: FileWebhook, *, first_pause: float = FIRST_PAUSE, told: Told = _uncounted) -> Ask:
        """Sends reviews to a webhook, again when it is not well and may be well soon. `told` hears of each call."""

        async def ask(review: Object) -> Object:
            async def ask_once() -> Object:
                with _telling(told, self._clock):
                    return webhook_answers.read(await self._sent(webhook, review))

            return await self._tried(ask_once, first_pause, lambda failure: failure.may_pass)

        return ask

    def poster(self, webhook: FileWebhook, *, first_pause: float) -> Post:
        """Sends documents to a webhook, whatever it answers; again after each pause when it fails."""

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
    """Raises WebhookFailed."""
    try:
        return await client.post(request, seconds=seconds)
    except NoAnswer as exc:
        if exc.is_late:
            raise OutOfTime(str(exc)) from exc
        raise WebhookFailed(str(exc), may_pass=exc.may_pass) from exc


@contextmanager
def _telling(told: Told, clock: Clock) -> Iterator[None]:
    """Tell of a call how it has ended and how long it took."""
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
        told(result, clock.monotonic() - began)


def _pauses(first: float) -> Iterator[float]:
    """Seconds between tries, a little more than they should be, so that not all ask again at once."""
    for number in range(_TRIES - 1):
        yield first * _FACTOR**number * (1 + _JITTER * random.random())  # noqa: S311 - spreads load, guards nothing
