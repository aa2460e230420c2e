import asyncio
import copy
from typing import Any

import pytest

from aio_apiserver.registry.machinery.patch import json_patch
from aio_apiserver.testing import Denied, Review, Server, reviews
from aio_apiserver.testing.client import BlockingClient, Refused
from tests.testing.objects import CONFIG_MAPS, make

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/example.com/{}/namespaces/default/widgets"
OPEN = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {"name": "v1", "served": True, "storage": True, "schema": OPEN},
            {"name": "v2", "served": True, "storage": False, "schema": OPEN},
        ],
    },
}


def paint(review: Review) -> None:
    review.object["data"] = {**review.object.get("data", {}), "colour": "blue"}


def test_a_function_changes_what_is_written_while_its_context_is_open(server: Server, client: BlockingClient) -> None:
    with server.webhooks.mutating(paint, "configmaps") as hook:
        within = make(client, "within", size="1")
    behind = make(client, "behind")

    assert within["data"] == {"size": "1", "colour": "blue"}
    assert "data" not in behind
    assert [call.request["name"] for call in hook.calls] == ["within"]
    assert client.request("GET", CONFIGURATIONS)["items"] == []


@pytest.mark.parametrize(
    "returned",
    [
        lambda review: {**review.object, "data": {"colour": "blue"}},
        lambda _: [{"op": "add", "path": "/data", "value": {"colour": "blue"}}],
    ],
    ids=["an object", "a JSON patch"],
)
def test_a_function_may_return_what_is_to_be_written(server: Server, client: BlockingClient, returned: Any) -> None:
    with server.webhooks.mutating(returned, "configmaps"):
        assert make(client, "web")["data"] == {"colour": "blue"}


def deny(review: Review) -> None:
    review.deny("never", code=418)


def raise_denied(_review: Review) -> None:
    raise Denied("never", code=418)


@pytest.mark.parametrize(
    ("function", "status"), [(deny, 418), (raise_denied, 418), (lambda _: "never", 403), (lambda _: False, 403)]
)
def test_a_function_refuses(server: Server, client: BlockingClient, function: Any, status: int) -> None:
    with server.webhooks.validating(function, "configmaps", name="no.example.com"):
        with pytest.raises(Refused, match=r'admission webhook "no\.example\.com" denied the request') as refusal:
            make(client, "web")
        client.request("GET", CONFIG_MAPS)

    assert refusal.value.status == status


def test_a_function_is_asked_about_what_it_is_for(server: Server, client: BlockingClient) -> None:
    asked: list[str] = []

    def note(review: Review) -> None:
        asked.append(f"{review.operation} {review.resource} {review.namespace}/{review.name} by {review.user}")

    with server.webhooks.validating(note, "deployments.apps/scale", "configmaps", operations=["CREATE", "DELETE"]):
        make(client, "web")
        client.request("DELETE", f"{CONFIG_MAPS}/web")
        client.request("POST", "/api/v1/namespaces", {"metadata": {"name": "other"}})

    assert asked == [f"{verb} configmaps default/web by kubernetes-admin" for verb in ("CREATE", "DELETE")]


def test_fields_of_the_api_narrow_what_a_function_is_for(server: Server, client: BlockingClient) -> None:
    condition = {"name": "named", "expression": "object.metadata.name == 'web'"}

    with server.webhooks.mutating(paint, "configmaps", matchConditions=[condition]):
        assert "data" not in make(client, "other")
        assert "data" in make(client, "web")


def test_what_a_function_raises_fails_the_test_and_is_answered(server: Server, client: BlockingClient) -> None:
    def broken(review: Review) -> None:
        assert review.object["metadata"]["name"] == "other"

    with (
        pytest.raises(AssertionError, match="assert 'web' == 'other'") as failure,
        server.webhooks.mutating(broken, "configmaps"),
        pytest.raises(Refused, match="broken raised AssertionError") as refusal,
    ):
        make(client, "web")

    assert refusal.value.status == 500
    assert failure.traceback[-1].name == "broken"


def test_a_result_that_makes_no_sense_fails_the_test(server: Server, client: BlockingClient) -> None:
    with (
        pytest.raises(TypeError, match="not 5"),
        server.webhooks.validating(lambda _: 5, "configmaps"),
        pytest.raises(Refused, match="raised TypeError"),
    ):
        make(client, "web")


async def test_a_function_that_waits_runs_on_the_loop_of_the_test(server: Server, client: BlockingClient) -> None:
    here, may_go_on = asyncio.get_running_loop(), asyncio.Event()

    async def wait(review: Review) -> str | None:
        await may_go_on.wait()
        return None if asyncio.get_running_loop() is here else "another loop"

    async with server.webhooks.validating(wait, "configmaps"):
        making = asyncio.create_task(asyncio.to_thread(make, client, "web"))
        may_go_on.set()
        assert (await making)["metadata"]["name"] == "web"


def test_a_function_that_waits_needs_no_loop_of_the_test(server: Server, client: BlockingClient) -> None:
    async def wait(_review: Review) -> None:
        await asyncio.sleep(0)

    with server.webhooks.validating(wait, "configmaps") as hook:
        make(client, "web")

    assert len(hook.calls) == 1


def test_a_function_may_ask_the_server_itself(server: Server, client: BlockingClient) -> None:
    def count(review: Review) -> None:
        with server.client() as own:
            review.object["data"] = {"before": str(len(own.request("GET", CONFIG_MAPS)["items"]))}
            review.warn("counted")

    with server.webhooks.mutating(count, "configmaps"):
        make(client, "one")

        assert make(client, "two")["data"] == {"before": "1"}


def test_functions_of_one_name_are_told_apart(server: Server, client: BlockingClient) -> None:
    with server.webhooks.mutating(paint, "configmaps"), server.webhooks.mutating(paint, "secrets"):
        named = [one["metadata"]["name"] for one in client.request("GET", CONFIGURATIONS)["items"]]

    assert named == ["paint-2.testing.apiserver", "paint.testing.apiserver"]


def test_a_reset_takes_a_webhook_away(server: Server, client: BlockingClient) -> None:
    with server.webhooks.mutating(paint, "configmaps") as hook:
        server.reset()
        make(client, "web")

    assert hook.calls == []


def test_a_server_that_stops_withdraws_its_webhooks() -> None:
    with Server() as server:
        server.webhooks.mutating(paint, "configmaps").__enter__()


def convert(obj: dict[str, Any], version: str) -> None:
    obj["shownAs"] = version


def test_a_function_converts_custom_resources(server: Server, client: BlockingClient) -> None:
    server.apply(DEFINITION)
    client.request("POST", WIDGETS.format("v1"), {"apiVersion": "example.com/v1", "kind": "Widget", **named("one")})

    with server.webhooks.conversion("widgets.example.com", convert):
        shown = client.request("GET", WIDGETS.format("v2") + "/one")
        assert (shown["apiVersion"], shown["shownAs"]) == ("example.com/v2", "example.com/v2")

    assert "shownAs" not in client.request("GET", WIDGETS.format("v2") + "/one")
    assert client.request("GET", f"{DEFINITIONS}/widgets.example.com")["spec"]["conversion"] == {"strategy": "None"}


def test_a_conversion_that_fails_fails_the_test(server: Server, client: BlockingClient) -> None:
    server.apply(DEFINITION)
    client.request("POST", WIDGETS.format("v1"), {"apiVersion": "example.com/v1", "kind": "Widget", **named("one")})

    def broken(_obj: dict[str, Any], _version: str) -> None:
        raise ValueError("no idea")

    with (
        pytest.raises(ValueError, match="no idea"),
        server.webhooks.conversion("widgets.example.com", broken),
        pytest.raises(Refused, match="broken raised ValueError: no idea"),
    ):
        client.request("GET", WIDGETS.format("v2") + "/one")


def named(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {}),
        ({"a": 1, "b": [1, 2]}, {"b": [1, 3], "c": {}}),
        ({"a/b~c": {"d": True}}, {"a/b~c": {"d": 1}}),
        ([1, 2, 3, 4], [2, 3]),
        ([{"a": 1}], [{"a": 1, "b": 2}, {"c": 3}, None]),
        ({"a": [1]}, {"a": {"b": 1}}),
    ],
)
def test_a_difference_makes_the_one_out_of_the_other(before: Any, after: Any) -> None:
    patch = list(reviews.difference({"root": before}, {"root": after}))

    made = json_patch.applied({"root": copy.deepcopy(before)}, patch)

    assert repr(made) == repr({"root": after})


def test_a_function_on_the_loop_of_the_server_cannot_wait_for_the_server(
    server: Server, client: BlockingClient
) -> None:
    async def impatient(_review: Review) -> None:
        server.settle()

    with (
        pytest.raises(RuntimeError, match="the server's own thread cannot wait for its result"),
        server.webhooks.validating(impatient, "configmaps"),
        pytest.raises(Refused, match="raised RuntimeError"),
    ):
        make(client, "web")
