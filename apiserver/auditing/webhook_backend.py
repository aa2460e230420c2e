"""Webhook backend: the audit backend that sends EventLists to a webhook, and tries again after failures."""

from collections.abc import Sequence

from aio_apiserver.apiserver.auditing.backends import FailureReports
from aio_apiserver.apiserver.outgoing.webhooks import Post
from aio_apiserver.registry.generic.audit.trail import Event
from aio_apiserver.registry.generic.webhook_calls import WebhookFailed


class AuditWebhook:
    """Sends lists of events."""

    def __init__(self, post: Post, troubles: FailureReports) -> None:
        self._post = post
        self._troubles = troubles

    async def process(self, events: Sequence[Event]) -> bool:
        listed = {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": list(events)}
        try:
            await self._post(listed)
        except WebhookFailed as exc:
            self._troubles.tell("webhook", str(exc), events)
            return False
        return True

    async def close(self) -> None:
        """Nothing is kept here."""
