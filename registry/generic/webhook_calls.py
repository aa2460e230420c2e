"""Webhook calls: the seam to programs elsewhere that are sent a review and answer it.

Who sends and what a review says is not known here. Must hold: whatever goes wrong on the way is a WebhookFailed, in the
words of kube-apiserver's client.
"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from aio_apiserver.storage.stored_object import Object

FIRST_PAUSE = 0.5
"""Seconds before a webhook that is not well is asked for the second time."""


class WebhookFailed(Exception):
    """A webhook could not be asked, or did not answer as it should; the message is for clients.

    code: that of its answer, or of no answer at all. may_pass: another try may well succeed.
    """

    def __init__(self, message: str, *, code: int = 503, may_pass: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.may_pass = may_pass


class Unusable(WebhookFailed):
    """There is no way to a webhook that is described so."""


class OutOfTime(WebhookFailed):
    """A webhook has not answered in time."""


class CallWebhook(Protocol):
    """Asks a webhook."""

    async def __call__(self, client: Mapping[str, Any], body: Object, *, seconds: float, plugin: str = "") -> Object:
        """The answer. `client` says where the webhook is, as its configuration has it; `plugin` is the admission plugin
        that asks, if one does. Raises WebhookFailed.
        """
        ...


Ask = Callable[[Object], Awaitable[Object]]
"""Sends a review to one webhook, again when it is not well, and returns the answered one. Raises WebhookFailed."""


class OpenWebhook(Protocol):
    """Finds the webhook that a file describes."""

    def __call__(self, file: Path, *, first_pause: float = FIRST_PAUSE) -> Ask:
        """`file` is a kubeconfig: its cluster is the webhook, its user this server. Raises ValueError, OSError."""
        ...


def open_none(file: Path, *, first_pause: float = FIRST_PAUSE) -> Ask:
    """The OpenWebhook of what has no network."""
    raise ValueError(f"{file}: webhooks cannot be reached from here")


async def call_nobody(client: Mapping[str, Any], body: Object, *, seconds: float, plugin: str = "") -> Object:
    """The CallWebhook of what has no network."""
    raise Unusable("webhooks cannot be reached from here")
