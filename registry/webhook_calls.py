"""Webhook calls: the seam to programs elsewhere that are sent a review and answer it.

Who sends and what a review says is not known here. Must hold: whatever goes wrong on the way is a WebhookFailed, in the
words of kube-apiserver's client.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from storage.stored_object import Object


class WebhookFailed(Exception):
    """A webhook could not be asked, or did not answer as it should; the message is for clients.

    code: that of its answer, or of no answer at all.
    """

    def __init__(self, message: str, *, code: int = 503) -> None:
        super().__init__(message)
        self.code = code


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


async def call_nobody(client: Mapping[str, Any], body: Object, *, seconds: float, plugin: str = "") -> Object:
    """The CallWebhook of what has no network."""
    raise Unusable("webhooks cannot be reached from here")
