"""webhook_calls: the contract for calls of webhooks: a review is sent, and the reviewed object comes back.

Knows no HTTP and no review's content. Must hold: every failure is a WebhookFailed, in the words of kube-apiserver's
client.
"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from aio_apiserver.base.unstructured import Object

FIRST_PAUSE = 0.5
"""The pause in seconds before a failed call is repeated."""


class WebhookFailed(Exception):
    """A webhook could not be reached, or did not answer as it should; the message is for clients.

    code: the HTTP code of its answer, or of no answer. may_pass: a retry may succeed.
    """

    def __init__(self, message: str, *, code: int = 503, may_pass: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.may_pass = may_pass


class Unusable(WebhookFailed):
    """The webhook's configuration gives no usable address."""


class OutOfTime(WebhookFailed):
    """The webhook has not answered in time."""


class CallWebhook(Protocol):
    """Calls a webhook."""

    async def __call__(self, client: Mapping[str, Any], body: Object, *, seconds: float, plugin: str = "") -> Object:
        """The webhook's answer. `client` is its clientConfig; `plugin` is the calling admission plugin, if any.

        Raises WebhookFailed.
        """
        ...


Ask = Callable[[Object], Awaitable[Object]]
"""Sends a review to one webhook, with retries, and returns the answered one. Raises WebhookFailed."""


class OpenWebhook(Protocol):
    """Opens the webhook of a kubeconfig file."""

    def __call__(self, file: Path, *, first_pause: float = FIRST_PAUSE) -> Ask:
        """`file` is a kubeconfig: its cluster is the webhook, its user this server. Raises ValueError, OSError."""
        ...


def open_none(file: Path, *, first_pause: float = FIRST_PAUSE) -> Ask:
    """The OpenWebhook of a registry without a network."""
    raise ValueError(f"{file}: webhooks cannot be reached from here")


async def call_none(client: Mapping[str, Any], body: Object, *, seconds: float, plugin: str = "") -> Object:
    """The CallWebhook of a registry without a network."""
    raise Unusable("webhooks cannot be reached from here")
