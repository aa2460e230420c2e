from typing import Any

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.generic.access.authentication import BadToken
from aio_apiserver.registry.generic.access.authorizer import Attributes, Selectors, Verdict
from aio_apiserver.registry.generic.access.users import UserInfo
from aio_apiserver.registry.generic.webhook_calls import WebhookFailed
from aio_apiserver.registry.plugins.authorization.review_webhooks import RemoteAuthorizer, RemoteSettings, RemoteTokens

ALICE = UserInfo(name="alice", groups=("devs",))
QUESTION = Attributes(ALICE, "list", "", "v1", "pods", namespace="ns", selectors=Selectors("spec.nodeName=n1"))


class Webhook:
    """A webhook that returns one status, or fails."""

    def __init__(self, status: dict[str, Any] | None) -> None:
        self.status = status
        self.asked: list[dict[str, Any]] = []

    async def ask(self, review: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(review)
        if self.status is None:
            raise WebhookFailed("connection refused")
        return {**review, "status": self.status}


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        ({"allowed": True, "reason": "r"}, Verdict.ALLOW),
        ({"allowed": False, "reason": "r"}, Verdict.NO_OPINION),
        ({"denied": True, "reason": "r"}, Verdict.DENY),
        ({"allowed": True, "denied": True, "reason": "r"}, Verdict.DENY),
    ],
)
async def test_the_webhook_decides(status: dict[str, Any], verdict: Verdict) -> None:
    webhook = Webhook(status)

    decision = await RemoteAuthorizer(webhook.ask, RemoteSettings(), ManualClock()).authorize(QUESTION)

    assert (decision.verdict, decision.reason) == (verdict, "r")
    assert webhook.asked[0]["spec"]["group"] == ["devs"]
    assert webhook.asked[0]["spec"]["resourceAttributes"]["fieldSelector"] == {
        "requirements": [{"key": "spec.nodeName", "operator": "In", "values": ["n1"]}]
    }


@pytest.mark.parametrize("verdict", [Verdict.NO_OPINION, Verdict.DENY])
async def test_a_webhook_that_does_not_answer_never_allows(verdict: Verdict) -> None:
    settings = RemoteSettings(on_failure=verdict)

    decision = await RemoteAuthorizer(Webhook(None).ask, settings, ManualClock()).authorize(QUESTION)

    assert (decision.verdict, decision.error) == (verdict, "connection refused")


@pytest.mark.parametrize(("on_failure", "expected"), [(Verdict.NO_OPINION, 1), (Verdict.DENY, 0)])
async def test_it_is_told_when_a_failure_leaves_a_question_to_others(on_failure: Verdict, expected: int) -> None:
    told: list[None] = []
    authorizer = RemoteAuthorizer(
        Webhook(None).ask,
        RemoteSettings(on_failure=on_failure),
        ManualClock(),
        failed_open=lambda: told.append(None),
    )

    await authorizer.authorize(QUESTION)

    assert len(told) == expected


async def test_answers_count_for_a_while() -> None:
    webhook, clock = Webhook({"allowed": True}), ManualClock()
    authorizer = RemoteAuthorizer(webhook.ask, RemoteSettings(allowed_seconds=10), clock)

    for advance in (0, 9, 2):
        clock.advance(advance)
        await authorizer.authorize(QUESTION)

    assert len(webhook.asked) == 2


async def test_a_webhook_knows_tokens() -> None:
    user = {"username": "jane", "uid": "7", "groups": ["g"], "extra": {"a": ["b"]}}
    webhook = Webhook({"authenticated": True, "user": user})
    tokens = RemoteTokens(webhook.ask, "v1", ("me",), 60, ManualClock())

    found = await tokens.authenticate("secret", ("me",))
    again = await tokens.authenticate("secret", ("me",))
    for_others = await tokens.authenticate("secret", ("other",))

    assert found is not None
    assert found.user == UserInfo(name="jane", uid="7", groups=("g",), extra={"a": ("b",)})
    assert again == found
    assert for_others is None
    assert len(webhook.asked) == 2


async def test_a_token_that_the_webhook_does_not_know_is_asked_about_once_a_while() -> None:
    webhook, clock = Webhook({"authenticated": False}), ManualClock()
    tokens = RemoteTokens(webhook.ask, "v1", ("me",), 60, clock)

    for advance in (0, 59, 2):
        clock.advance(advance)
        assert await tokens.authenticate("secret", ("me",)) is None

    assert len(webhook.asked) == 2


async def test_a_webhook_may_say_why_a_token_is_bad() -> None:
    tokens = RemoteTokens(Webhook({"authenticated": False, "error": "too old"}).ask, "v1", ("me",), 60, ManualClock())

    with pytest.raises(BadToken, match="too old"):
        await tokens.authenticate("secret", ("me",))
