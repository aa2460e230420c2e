"""Tests conversion by webhook."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from aio_apiserver.registry.generic.webhook_calls import WebhookFailed
from aio_apiserver.registry.groups.apiextensions.conversion.conversion import WebhookTranslation
from aio_apiserver.registry.groups.apiextensions.definitions import definition as definitions
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.custom_types.custom_type import CustomType
from aio_apiserver.storage.errors import Untranslatable
from aio_apiserver.storage.stored_object import ObjectReader, StoredObject
from tests.registry.groups.apiextensions.example_definitions import definition, version

Answer = Callable[[dict[str, Any]], dict[str, Any]]

STORED: dict[str, Any] = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "a", "namespace": "n", "uid": "u", "labels": {"x": "y"}},
    "spec": {"size": 3},
}


def translation(
    answer: Answer, *, sent: list[dict[str, Any]] | None = None, client: dict[str, Any] | None = None
) -> WebhookTranslation:
    webhook = {"conversionReviewVersions": ["v9", "v1"], "clientConfig": client or {}}
    crd = definition(
        "widgets",
        version("v1", storage=True),
        version("v2"),
        conversion={"strategy": "Webhook", "webhook": webhook},
    )
    crd["metadata"]["uid"] = "1"
    crd["status"] = {"acceptedNames": crd["spec"]["names"], "storedVersions": ["v1"]}
    stored = StoredObject.of("widgets.example.com", 1, crd, ObjectReader(lambda _: {}, lambda _: {}))
    found = definitions.parse(stored)
    source = definitions.SchemaSource(found)
    types = {name: CustomType(source.reader_of(name), schema.builtin()) for name in ("v1", "v2")}

    async def call(
        client: Mapping[str, Any], body: dict[str, Any], *, seconds: float, plugin: str = ""
    ) -> dict[str, Any]:
        if sent is not None:
            sent.append(body)
        return answer(body)

    return WebhookTranslation(found, types, "v2", call)


def converted(body: dict[str, Any], **changes: Any) -> dict[str, Any]:
    (obj,) = body["request"]["objects"]
    made = {**obj, "apiVersion": body["request"]["desiredAPIVersion"], **changes}
    response = {"uid": body["request"]["uid"], "result": {"status": "Success"}, "convertedObjects": [made]}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response}


async def test_a_stored_object_is_read_as_converted_by_the_webhook() -> None:
    sent: list[dict[str, Any]] = []
    by_webhook = translation(lambda body: converted(body, spec={"color": "red", "unknown": 1}), sent=sent)

    obj = await by_webhook.from_stored(dict(STORED))

    assert obj["spec"] == {"color": "red"}
    assert obj["metadata"]["labels"] == {"x": "y"}
    assert sent[0]["request"]["desiredAPIVersion"] == "example.com/v2"
    assert "resourceVersion" not in sent[0]["request"]["objects"][0]["metadata"]


async def test_an_object_is_stored_in_the_stored_version() -> None:
    by_webhook = translation(lambda body: converted(body, spec={"size": 4}))

    value = await by_webhook.to_stored({"metadata": {"name": "a"}, "spec": {"color": "red"}})

    assert (value["apiVersion"], value["spec"]) == ("example.com/v1", {"size": 4})


async def test_of_the_metadata_a_webhook_may_change_labels_and_annotations() -> None:
    changed = {"name": "a", "namespace": "n", "uid": "u", "labels": {"new": "1"}, "finalizers": ["a.b/c"]}
    by_webhook = translation(lambda body: converted(body, metadata=changed))

    obj = await by_webhook.from_stored(dict(STORED))

    assert obj["metadata"]["labels"] == {"new": "1"}
    assert "finalizers" not in obj["metadata"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"metadata": {"name": "b", "namespace": "n", "uid": "u"}}, "must have the same name: a != b"),
        ({"kind": "Other"}, "invalid kind (expected Widget, received Other)"),
        (
            {"metadata": {"name": "a", "namespace": "n", "uid": "u", "labels": {"a": 1}}},
            "must be a string, but is int64",
        ),
    ],
)
async def test_a_conversion_that_changes_identity_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(Untranslatable) as raised:
        await translation(lambda body: converted(body, **changes)).from_stored(dict(STORED))

    assert words in str(raised.value)


async def test_the_failure_of_a_webhook_is_reported() -> None:
    def failing(_body: dict[str, Any]) -> dict[str, Any]:
        raise WebhookFailed("connection refused")

    with pytest.raises(Untranslatable) as raised:
        await translation(failing).from_stored(dict(STORED))

    assert str(raised.value) == "conversion webhook for example.com/v1, Kind=Widget failed: connection refused"


async def test_an_answer_to_another_question_is_refused() -> None:
    def late(body: dict[str, Any]) -> dict[str, Any]:
        answer = converted(body)
        answer["response"]["uid"] = "other"
        return answer

    with pytest.raises(Untranslatable, match="expected response"):
        await translation(late).from_stored(dict(STORED))


@pytest.mark.parametrize(
    ("client", "address"),
    [
        ({"url": "https://example.com/convert"}, "https://example.com/convert"),
        ({"service": {"namespace": "n", "name": "s"}}, "service n/s:443"),
        ({"service": {"namespace": "n", "name": "s", "port": 8443, "path": "/convert"}}, "service n/s:8443/convert"),
        ({}, "without an address"),
    ],
)
def test_the_advice_names_the_webhook_and_the_definition(client: dict[str, Any], address: str) -> None:
    advice = translation(converted, client=client).advice

    assert advice == (
        f"repair its webhook ({address}), or spec.conversion of the CustomResourceDefinition widgets.example.com"
    )
