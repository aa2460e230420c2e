"""Webhooks that refuse objects."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from aio_apiserver.registry.base.errors import Forbidden, InternalError, StatusError
from aio_apiserver.registry.generic.access.always import AlwaysAllow
from aio_apiserver.registry.generic.access.authorizer import Attributes, Decision, Verdict
from aio_apiserver.registry.generic.metric_sets import MetricSets
from aio_apiserver.registry.plugins.admission.condition_metrics import ConditionMetrics
from aio_apiserver.registry.plugins.admission.webhooks.validating import ValidatingAdmissionWebhook
from tests.registry.plugins.admission.webhooks.calls import Programs, a_config_map, configured, says, webhook


class MayReadSecrets(AlwaysAllow):
    """An Authorizer that allows one right."""

    async def authorize(self, attributes: Attributes) -> Decision:
        is_right = (attributes.verb, attributes.resource) == ("get", "secrets")
        return Decision(Verdict.ALLOW if is_right else Verdict.NO_OPINION)


async def test_all_webhooks_are_asked_at_the_same_time_and_the_first_refusal_is_told() -> None:
    all_asked, waiting = asyncio.Event(), []

    class Together(Programs):
        async def __call__(
            self, client: Mapping[str, Any], body: dict[str, Any], *, seconds: float, plugin: str = ""
        ) -> dict[str, Any]:
            waiting.append(client["url"])
            if len(waiting) == 3:
                all_asked.set()
            await all_asked.wait()
            return await super().__call__(client, body, seconds=seconds)

    programs = Together({"one": says(), "two": says(allowed=False), "three": says(allowed=False)})
    hooks = [webhook("one"), webhook("two"), webhook("three")]

    async with configured(ValidatingAdmissionWebhook, programs, *hooks) as plugin:
        with pytest.raises(StatusError, match=r'"two\.example\.com" denied the request without explanation'):
            await plugin.validate(a_config_map())

    assert len(programs.asked) == 3


@pytest.mark.parametrize(("deadline", "seconds"), [(0.0, 5), (20.0, 5), (2.5, 2.5)])
async def test_a_webhook_call_ends_with_the_deadline_of_the_request(deadline: float, seconds: float) -> None:
    programs = Programs({"one": says()})

    async with configured(ValidatingAdmissionWebhook, programs, webhook("one", timeoutSeconds=5)) as plugin:
        await plugin.validate(a_config_map(deadline=deadline))

    assert programs.seconds == [seconds]


@pytest.mark.parametrize(
    ("expression", "is_asked"),
    [
        ("object.data.k == 'v'", True),
        ("object.data.k == 'w'", False),
        ("request.operation == 'CREATE' && request.userInfo.username == 'u'", True),
        ("authorizer.group('').resource('secrets').check('get').allowed()", True),
        ("authorizer.group('').resource('secrets').check('list').allowed()", False),
        ("oldObject == null", True),
    ],
)
async def test_conditions_decide_whether_a_webhook_is_asked(expression: str, is_asked: bool) -> None:
    programs = Programs({"one": says()})
    hook = webhook("one", matchConditions=[{"name": "n", "expression": expression}])

    async with configured(ValidatingAdmissionWebhook, programs, hook, authorizer=MayReadSecrets()) as plugin:
        await plugin.validate(a_config_map())

    assert bool(programs.asked) is is_asked


async def test_a_condition_that_fails_counts_unless_another_is_false() -> None:
    programs = Programs({"one": says()})
    failing, false = ({"name": name, "expression": name} for name in ("object.none.k == 1", "false"))
    hooks = [webhook("one", matchConditions=[failing, false]), webhook("one", matchConditions=[failing])]

    async with configured(ValidatingAdmissionWebhook, programs, *hooks) as plugin:
        with pytest.raises(Forbidden) as raised:
            await plugin.validate(a_config_map())

    assert raised.value.message == (
        "configmaps \"a\" is forbidden: expression 'object.none.k == 1' resulted in error: no such key: none"
    )


async def test_conditions_that_keep_a_webhook_away_are_recorded() -> None:
    programs, metrics = Programs({"one": says()}), MetricSets()
    failing, false = ({"name": name, "expression": name} for name in ("object.none.k == 1", "false"))
    hook = webhook("one", matchConditions=[failing, false])

    async with configured(ValidatingAdmissionWebhook, programs, hook, metrics=metrics) as plugin:
        await plugin.validate(a_config_map())

    labels = ("one.example.com", "webhook", "validating", "CREATE")
    assert metrics.of(ConditionMetrics).errors.of(*labels).value == 1
    assert metrics.of(ConditionMetrics).exclusions.of(*labels).value == 1
    assert metrics.of(ConditionMetrics).seconds.of(*labels).total == 1


async def test_the_first_version_of_reviews_is_spoken_that_both_know() -> None:
    programs = Programs({"one": says(uid="other")})

    async with configured(
        ValidatingAdmissionWebhook, programs, webhook("one", admissionReviewVersions=["v2", "v1beta1", "v1"])
    ) as plugin:
        await plugin.validate(a_config_map())

    assert programs.asked[0][1]["apiVersion"] == "admission.k8s.io/v1beta1"


async def test_without_a_common_version_no_webhook_is_called() -> None:
    programs = Programs({"one": says()})

    async with configured(
        ValidatingAdmissionWebhook, programs, webhook("one", admissionReviewVersions=["v2"])
    ) as plugin:
        with pytest.raises(InternalError, match="webhook does not accept known AdmissionReview versions"):
            await plugin.validate(a_config_map())

    assert programs.asked == []
