"""Metrics and audit annotations of webhooks."""

import asyncio
from collections.abc import Awaitable, Sequence

import pytest
from msgspec.structs import replace

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base.errors import InternalError, StatusError
from aio_apiserver.registry.base.request_steps import RequestStep
from aio_apiserver.registry.plugins.admission.matching import criteria_of_webhook
from aio_apiserver.registry.plugins.admission.webhook_metrics import WebhookMetrics
from aio_apiserver.registry.plugins.admission.webhooks.configurations import AdmissionWebhook
from aio_apiserver.registry.plugins.admission.webhooks.failures import CallFailed, WebhookDenied
from aio_apiserver.registry.plugins.admission.webhooks.outcomes import VALIDATING, Outcomes
from tests.registry.plugins.admission.webhooks.calls import a_config_map


def webhook(*, ignores_failures: bool = False) -> AdmissionWebhook:
    return AdmissionWebhook(
        name="w",
        configuration="c",
        uid="c/w/0",
        client={},
        criteria=criteria_of_webhook({}),
        review_versions=("v1",),
        side_effects="None",
        seconds=10,
        ignores_failures=ignores_failures,
        is_reinvoked=False,
        stated_conditions=(),
    )


async def failing(exc: Exception) -> Sequence[str]:
    raise exc


async def outcome(metrics: WebhookMetrics, one: AdmissionWebhook, work: Awaitable[Sequence[str]]) -> None:
    await Outcomes(metrics, ManualClock(), VALIDATING).of(one, a_config_map(), "round_0_index_0", work)


async def test_a_failure_that_counts_is_told_by_what_went_wrong() -> None:
    metrics = WebhookMetrics()

    with pytest.raises(InternalError):
        await outcome(metrics, webhook(), failing(CallFailed("w", "why", code=418)))
    with pytest.raises(StatusError):
        await outcome(metrics, webhook(), failing(WebhookDenied("w", {"code": 999})))

    assert set(metrics.rejections.series) == {
        ("calling_webhook_error", "w", "CREATE", "418", "validating"),
        ("no_error", "w", "CREATE", "600", "validating"),
    }


async def test_a_failure_that_does_not_count_is_told_as_such() -> None:
    metrics = WebhookMetrics()

    await outcome(metrics, webhook(ignores_failures=True), failing(CallFailed("w", "why")))

    assert metrics.failed_open.of("w", "validating").value == 1
    assert set(metrics.requests.series) == {("503", "w", "CREATE", "false", "validating")}
    assert not metrics.rejections.series


async def test_a_cancelled_call_is_shown_as_cancelled_and_counts_as_no_answer() -> None:
    metrics, steps = WebhookMetrics(), list[RequestStep]()
    attributes = replace(a_config_map(), note_step=steps.append)

    async def never() -> Sequence[str]:
        await asyncio.Event().wait()
        return ()

    calling = asyncio.ensure_future(
        Outcomes(metrics, ManualClock(), VALIDATING).of(webhook(), attributes, "round_0_index_0", never())
    )
    await asyncio.sleep(0)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert [one.verdict for one in steps] == ["cancelled"]
    assert set(metrics.requests.series) == {("0", "w", "CREATE", "false", "validating")}
