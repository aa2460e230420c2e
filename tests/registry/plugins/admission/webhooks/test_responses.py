"""Responses of webhooks."""

from typing import Any

import pytest

from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.plugins.admission.webhooks import responses

REVIEW = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": "u", "allowed": True}}


def read(value: dict[str, Any], *, version: str = "v1", mutates: bool = False) -> responses.WebhookResponse:
    return responses.read(value, version, "u", builtin(), mutates=mutates)


def with_response(**members: Any) -> dict[str, Any]:
    return {**REVIEW, "response": {"uid": "u", "allowed": True, **members}}


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({}, "webhook response was absent"),
        ({"response": {"uid": "v"}}, 'expected response.uid="u", got "v"'),
        (
            {"response": {"uid": "u"}},
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got /, Kind=",
        ),
        (with_response(patch="W10="), "validating webhook may not return response.patch"),
        (with_response(patchType=""), "validating webhook may not return response.patchType"),
    ],
)
def test_a_review_that_says_something_wrong_is_refused(value: dict[str, Any], why: str) -> None:
    with pytest.raises(responses.InvalidReview) as raised:
        read(value)

    assert str(raised.value) == why


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({**REVIEW, "kind": "Status"}, "converting (v1.Status) to (v1.AdmissionReview): unknown conversion"),
        (
            {**REVIEW, "apiVersion": "admission.k8s.io/v1beta1"},
            "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
        ),
        (
            {**REVIEW, "apiVersion": "v1", "kind": "Pod"},
            'no kind "Pod" is registered for version "v1" in scheme "k8s.io/apiserver/pkg/util/webhook/client.go:71"',
        ),
        (
            with_response(allowed="yes"),
            "json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool",
        ),
        (with_response(patch="a?b="), "illegal base64 data at input byte 1"),
    ],
)
def test_what_is_no_review_is_refused(value: dict[str, Any], why: str) -> None:
    with pytest.raises(responses.UndecodableReview) as raised:
        read(value)

    assert str(raised.value) == why


def test_the_old_version_of_reviews_is_not_held_to_the_rules_of_the_new_one() -> None:
    found = read({"response": {"uid": "v", "allowed": True, "patch": "W10="}}, version="v1beta1", mutates=True)

    assert found == responses.WebhookResponse(is_allowed=True, patch=b"[]", patch_type="JSONPatch", warnings=[])
