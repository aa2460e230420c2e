"""Outcomes: applies failurePolicy to the call of a webhook, and records metrics and audit annotations.

Must hold: failurePolicy Ignore covers failed calls. It does not cover denials and errors of this server.
"""

import asyncio
import logging
from collections.abc import Awaitable, Sequence

from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.base.request_steps import RequestStep
from aio_apiserver.registry.generic.admission.interface import Attributes, Operation
from aio_apiserver.registry.plugins.admission.webhook_metrics import WebhookMetrics, code_label
from aio_apiserver.registry.plugins.admission.webhooks import audit_annotations
from aio_apiserver.registry.plugins.admission.webhooks.configurations import AdmissionWebhook
from aio_apiserver.registry.plugins.admission.webhooks.failures import CallFailed, WebhookDenied

logger = logging.getLogger(__name__)

MUTATING, VALIDATING = "admit", "validating"
_NOTED_AS = {MUTATING: audit_annotations.MUTATION, VALIDATING: audit_annotations.VALIDATION}
_CALL_FAILED, _OUR_FAULT, _DENIED = "calling_webhook_error", "apiserver_internal_error", "no_error"
_GOOD, _NO_CODE = 200, 0


class Outcomes:
    """The outcomes of one step: `admit` or `validating`."""

    def __init__(self, metrics: WebhookMetrics, clock: Clock, step: str) -> None:
        self._metrics = metrics
        self._clock = clock
        self._step = step

    async def of(
        self, webhook: AdmissionWebhook, attributes: Attributes, place: str, work: Awaitable[Sequence[str]]
    ) -> Sequence[str]:
        """The fields that a webhook has changed; none when a failure is ignored. Raises StatusError."""
        began = self._clock.monotonic()
        code, refused, detail, verdict = _NO_CODE, "", "", "failed"
        fields: Sequence[str] = ()
        try:
            fields = await work
            code, verdict = _GOOD, "changed" if fields else "allowed"
            return fields
        except CallFailed as exc:
            code, detail, verdict = exc.code, str(exc), "failed open"
            if not webhook.ignores_failures:
                refused = _CALL_FAILED
                raise exc.refusal() from exc
            self._metrics.failed_open.of(webhook.name, self._step).add()
            audit_annotations.note_failure(attributes, webhook, place, _NOTED_AS[self._step])
            logger.warning("Failed calling webhook, failing open %s: %s", webhook.name, exc)
            return ()
        except asyncio.CancelledError:
            verdict = "cancelled"  # the client went away, or the request took too long
            raise
        except WebhookDenied as exc:
            code, refused, detail = exc.code, _DENIED, exc.message
            raise
        except StatusError as exc:
            code, refused, detail = _NO_CODE, _OUR_FAULT, exc.message
            raise
        finally:
            seconds = self._clock.monotonic() - began
            self._record(webhook.name, attributes.operation, code, refused, seconds)
            shown = "refused" if refused else verdict
            attributes.note_step(RequestStep("webhook", webhook.name, shown, seconds, detail, fields))

    def _record(self, name: str, operation: Operation, code: int, refused: str, seconds: float) -> None:
        label, rejected = code_label(code), "true" if refused else "false"
        self._metrics.requests.of(label, name, operation.value, rejected, self._step).add()
        self._metrics.durations.of(name, operation.value, rejected, self._step).observe(seconds)
        if refused:
            self._metrics.rejections.of(refused, name, operation.value, label, self._step).add()
