from typing import Any

import pytest
from msgspec.structs import replace

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.audit.levels import Level
from aio_apiserver.registry.generic.webhook_calls import WebhookFailed
from aio_apiserver.registry.plugins.admission.pods import image_policy_webhook
from aio_apiserver.registry.plugins.admission.pods.image_policy_webhook import ImagePolicyWebhook
from tests.registry.plugins.admission.writes import write


class Webhook:
    """A webhook that returns one answer to all reviews, or fails."""

    def __init__(self, status: dict[str, Any] | None) -> None:
        self.status = status
        self.asked: list[dict[str, Any]] = []

    async def ask(self, review: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(review)
        if self.status is None:
            raise WebhookFailed('Post "https://images/": EOF')
        return {**review, "status": self.status}


class Notes(dict[str, str]):
    """The audit annotations of a request."""

    def __call__(self, key: str, value: str, level: Level = Level.METADATA) -> None:
        self.setdefault(key, value)


def plugin(webhook: Webhook, clock: ManualClock | None = None, **given: Any) -> ImagePolicyWebhook:
    settings = image_policy_webhook.settings_of({"imagePolicy": {"kubeConfigFile": "/k", **given}})
    return ImagePolicyWebhook(webhook.ask, settings, clock or ManualClock())


def pod(annotations: dict[str, str] | None = None) -> dict[str, Any]:
    spec = {
        "containers": [{"name": "a", "image": "web:1"}],
        "initContainers": [{"name": "i", "image": "init:1"}],
        "ephemeralContainers": [{"name": "e", "image": "debug:1"}],
    }
    return {"metadata": {"name": "p", "annotations": annotations or {}}, "spec": spec}


async def test_images_are_asked_about() -> None:
    webhook = Webhook({"allowed": True})

    await plugin(webhook).validate(write(pod()))

    assert webhook.asked == [
        {
            "kind": "ImageReview",
            "apiVersion": "imagepolicy.k8s.io/v1alpha1",
            "metadata": {},
            "spec": {"containers": [{"image": "web:1"}, {"image": "init:1"}], "namespace": "default"},
            "status": {"allowed": False},
        }
    ]


async def test_annotations_that_are_meant_for_the_webhook_are_shown() -> None:
    webhook = Webhook({"allowed": True})
    obj = pod({"acme.image-policy.k8s.io/ticket": "7", "acme.example.com/ticket": "8"})

    await plugin(webhook).validate(write(obj))

    assert webhook.asked[0]["spec"]["annotations"] == {"acme.image-policy.k8s.io/ticket": "7"}


async def test_of_containers_that_join_a_pod_only_those_are_asked_about() -> None:
    webhook = Webhook({"allowed": True})

    await plugin(webhook).validate(write(pod(), subresource="ephemeralcontainers"))
    await plugin(webhook).validate(write(pod(), subresource="status"))

    assert [one["spec"]["containers"] for one in webhook.asked] == [[{"image": "debug:1"}]]


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ({"allowed": False, "reason": "too old"}, "image policy webhook backend denied one or more images: too old"),
        ({"allowed": False}, "one or more images rejected by webhook backend"),
        ({}, "one or more images rejected by webhook backend"),
        ({"allowed": "true"}, "one or more images rejected by webhook backend"),
    ],
)
async def test_a_no_is_told_with_its_reason(status: dict[str, Any], why: str) -> None:
    with pytest.raises(errors.Forbidden) as raised:
        await plugin(Webhook(status)).validate(write(pod()))

    assert raised.value.message == f'pods "p" is forbidden: {why}'


async def test_a_webhook_that_does_not_answer_denies() -> None:
    with pytest.raises(errors.Forbidden) as raised:
        await plugin(Webhook(None)).validate(write(pod()))

    assert raised.value.message == 'pods "p" is forbidden: Post "https://images/": EOF'


async def test_a_webhook_that_does_not_answer_may_allow_and_that_is_noted() -> None:
    notes = Notes()

    await plugin(Webhook(None), defaultAllow=True).validate(noting(notes))

    assert notes == {"imagepolicywebhook.image-policy.k8s.io/failed-open": "true"}


async def test_what_the_webhook_wants_noted_is_noted_each_time() -> None:
    checked, notes = plugin(Webhook({"allowed": True, "auditAnnotations": {"rule": "r1"}})), (Notes(), Notes())

    for each in notes:
        await checked.validate(noting(each))

    assert notes == ({"imagepolicywebhook.image-policy.k8s.io/rule": "r1"},) * 2


def noting(notes: Notes) -> Attributes:
    return replace(write(pod()), annotate=notes)


@pytest.mark.parametrize(("is_allowed", "settings"), [(True, {"allowTTL": 10}), (False, {"denyTTL": 10})])
async def test_answers_count_for_a_while(is_allowed: bool, settings: dict[str, int]) -> None:
    webhook, clock = Webhook({"allowed": is_allowed}), ManualClock()
    checked = plugin(webhook, clock, **settings)

    for advance in (0, 9, 2):
        clock.advance(advance)
        try:
            await checked.validate(write(pod()))
        except errors.Forbidden:
            assert not is_allowed

    assert len(webhook.asked) == 2


async def test_answers_need_not_be_remembered() -> None:
    webhook = Webhook({"allowed": True})
    checked = plugin(webhook, allowTTL=-1)

    for _ in range(2):
        await checked.validate(write(pod()))

    assert len(webhook.asked) == 2


def test_durations_have_defaults_and_units() -> None:
    usual = image_policy_webhook.settings_of({"imagePolicy": {"kubeConfigFile": "/k"}})
    given = image_policy_webhook.settings_of({"imagePolicy": {"kubeConfigFile": "/k", "retryBackoff": 250}})

    assert (usual.allowed_seconds, usual.denied_seconds, usual.first_pause) == (300.0, 30.0, 0.5)
    assert given.first_pause == 0.25


@pytest.mark.parametrize(
    ("configuration", "complaint"),
    [
        (None, "no config specified"),
        ({}, "kubeConfigFile"),
        ({"imagePolicy": {"allowTTL": 1801}}, "valid value is between 1s and 30m0s, got 30m1s"),
        ({"imagePolicy": {"denyTTL": -2}}, "valid value is between 1s and 30m0s, got -2s"),
        ({"imagePolicy": {"retryBackoff": 300_001}}, "valid value is between 1ns and 5m0s, got 5m0.001s"),
        ({"imagePolicy": {"allowTTL": "30s"}}, "imagePolicy.allowTTL: must be a whole number"),
    ],
)
def test_a_configuration_that_makes_no_sense_is_refused(configuration: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        image_policy_webhook.settings_of(configuration)
