"""Calls: sends the AdmissionReview of one write to one webhook, and reads the response.

Must hold: a webhook with side effects is not called on a dry run, whatever its failurePolicy. Warnings of a webhook
reach the client also when the webhook denies the request.
"""

import uuid
from contextlib import AbstractContextManager

from aio_apiserver.base import tracing
from aio_apiserver.base.tracing import TraceLayer, TraceSpan, Untraced
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.generic.webhook_calls import Unusable, WebhookFailed
from aio_apiserver.registry.plugins.admission.webhooks import audit_annotations, responses, reviews
from aio_apiserver.registry.plugins.admission.webhooks.configurations import AdmissionWebhook
from aio_apiserver.registry.plugins.admission.webhooks.failures import CallFailed, WebhookDenied
from aio_apiserver.registry.plugins.admission.webhooks.responses import WebhookResponse
from aio_apiserver.registry.plugins.admission.webhooks.versioned_attributes import VersionedAttributes

_LEAST_SECONDS = 0.001
_HARMLESS = frozenset({"None", "NoneOnDryRun"})
_NO_VERSION = "webhook does not accept known AdmissionReview versions (v1, v1beta1)"


class Caller:
    """Calls webhooks for one plugin. `mutates`: responses may contain patches."""

    def __init__(self, plugin: str, given: Foundation, *, mutates: bool) -> None:
        self._plugin = plugin
        self._call = given.call_webhook
        self._types = given.types
        self._patience = given.clock.patience
        self._mutates = mutates

    async def ask(
        self, webhook: AdmissionWebhook, attributes: Attributes, own: AdmissionForm, shown: VersionedAttributes
    ) -> WebhookResponse:
        """Call a webhook for a write. Raises CallFailed, WebhookDenied, BadRequest."""
        if attributes.is_dry_run:
            _check_side_effects(webhook)
        version = reviews.version_of(webhook.review_versions)
        if version is None:
            raise CallFailed(webhook.name, f"could not create admission objects: {_NO_VERSION}", code=400)
        uid = str(uuid.uuid4())
        review = reviews.review(version, uid, attributes, own, shown)
        seconds = self._seconds(webhook, attributes)
        span = self._span(webhook, attributes, uid)
        try:
            with span:
                value = await self._call(webhook.client, review, seconds=seconds, plugin=self._plugin)
            answer = responses.read(value, version, uid, self._types, mutates=self._mutates)
        except Unusable as exc:
            raise CallFailed(webhook.name, f"could not get REST client: {exc}", code=500) from exc
        except WebhookFailed as exc:
            raise CallFailed(webhook.name, f"failed to call webhook: {exc}", code=exc.code) from exc
        except responses.UndecodableReview as exc:
            raise CallFailed(webhook.name, f"failed to call webhook: {exc}") from exc
        except responses.InvalidReview as exc:
            raise CallFailed(webhook.name, f"received invalid webhook response: {exc}") from exc
        audit_annotations.note_own(attributes, webhook, answer.annotations)
        for warning in answer.warnings:
            attributes.warn(warning)
        if not answer.is_allowed:
            raise WebhookDenied(webhook.name, answer.status)
        return answer

    def _span(
        self, webhook: AdmissionWebhook, attributes: Attributes, uid: str
    ) -> AbstractContextManager[TraceSpan | Untraced]:
        resource = attributes.resource
        return tracing.spanned(
            f"Call {'mutating' if self._mutates else 'validating'} webhook",
            {
                "configuration": webhook.configuration,
                "webhook": webhook.name,
                "resource": f"{resource.group}/{attributes.version}, Resource={resource.resource}",
                "subresource": attributes.subresource,
                "operation": attributes.operation.value,
                "UID": uid,
            },
            layer=TraceLayer.MUTATING if self._mutates else TraceLayer.VALIDATING,
        )

    def _seconds(self, webhook: AdmissionWebhook, attributes: Attributes) -> float:
        """The timeout of a call: that of the webhook, and not longer than the request's own deadline."""
        if not attributes.deadline:
            return webhook.seconds
        return min(webhook.seconds, max(_LEAST_SECONDS, attributes.deadline - self._patience.monotonic()))


def _check_side_effects(webhook: AdmissionWebhook) -> None:
    if webhook.side_effects is None:
        raise CallFailed(webhook.name, "Webhook SideEffects is nil", code=400)
    if webhook.side_effects not in _HARMLESS:
        raise BadRequest(f"admission webhook {quote(webhook.name)} does not support dry run")
