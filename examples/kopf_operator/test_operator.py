"""Tests of the kopf operator, which runs in the event loop of each test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import kopf
import pytest

from aio_apiserver.testing import Refused, Server
from examples.conftest import GREETINGS, Greet
from examples.kopf_operator import operator

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
EVENTS = "/api/v1/namespaces/default/events"


@asynccontextmanager
async def operating(apiserver: Server) -> AsyncIterator[None]:
    """Run the operator in the context. This is not a fixture, because kopf cancels the tasks that it did not start."""
    registry = kopf.OperatorRegistry()
    operator.register(registry)
    kopf.on.login(registry=registry)(lambda **_: apiserver.clients.kopf())
    settings = kopf.OperatorSettings()
    settings.networking.error_backoffs = (0.05,) * 5  # a test does not wait for seconds
    ready, stop = asyncio.Event(), asyncio.Event()
    with apiserver.clients.kubernetes() as api:
        running = asyncio.create_task(
            kopf.operator(
                registry=registry,
                settings=settings,
                memo=kopf.Memo(api=api),
                standalone=True,
                namespaces=["default"],
                ready_flag=ready,
                stop_flag=stop,
            )
        )
        await ready.wait()
        try:
            yield
        finally:
            stop.set()
            await running


async def until(condition: Any) -> Any:
    """Wait until a condition is true, and return its value. The operator runs in the same loop."""
    while not (found := condition()):  # noqa: ASYNC110 - the condition has no event
        await asyncio.sleep(0.01)
    return found


class Cluster:
    """Reads the objects that the operator writes."""

    def __init__(self, apiserver: Server) -> None:
        self.client = apiserver.client()

    def text(self, name: str) -> str:
        """The text in the status of a greeting."""
        text: str = self.client.request("GET", f"{GREETINGS}/{name}").get("status", {}).get("text", "")
        return text

    def child(self, name: str) -> str:
        """The text in the config map of a greeting."""
        try:
            text: str = self.client.request("GET", f"{CONFIG_MAPS}/{name}")["data"]["text"]
        except Refused:
            return ""
        return text

    def change(self, name: str, who: str) -> None:
        body = {"spec": {"who": who}}
        self.client.request("PATCH", f"{GREETINGS}/{name}", body, content_type="application/merge-patch+json")


@pytest.fixture
def cluster(apiserver: Server) -> Cluster:
    return Cluster(apiserver)


@pytest.mark.parametrize("who", ["world", "Ada", "Grace", "Barbara", "Radia"])
async def test_a_greeting_is_answered(apiserver: Server, greet: Greet, cluster: Cluster, who: str) -> None:
    async with operating(apiserver):
        greet("one", who)

        assert await until(lambda: cluster.text("one")) == f"Hello, {who}!"
        assert cluster.child("one") == f"Hello, {who}!"


@pytest.mark.parametrize("who", ["world", "Margaret"])
async def test_a_greeting_from_before_the_start_is_answered(
    apiserver: Server, greet: Greet, cluster: Cluster, who: str
) -> None:
    greet("one", who)

    async with operating(apiserver):
        assert await until(lambda: cluster.text("one")) == f"Hello, {who}!"


@pytest.mark.parametrize("count", [2, 5, 10])
async def test_all_greetings_are_answered(apiserver: Server, greet: Greet, cluster: Cluster, count: int) -> None:
    async with operating(apiserver):
        for number in range(count):
            greet(f"number-{number}", str(number))
        texts = [await until(lambda name=f"number-{number}": cluster.text(name)) for number in range(count)]

    assert texts == [f"Hello, {number}!" for number in range(count)]


@pytest.mark.parametrize("who", ["moon", "sun", "stars"])
async def test_a_changed_greeting_is_answered_again(
    apiserver: Server, greet: Greet, cluster: Cluster, who: str
) -> None:
    async with operating(apiserver):
        greet("one", "world")
        await until(lambda: cluster.text("one"))
        cluster.change("one", who)

        assert await until(lambda: cluster.text("one") == cluster.child("one") == f"Hello, {who}!")


async def test_the_config_map_goes_before_its_greeting(apiserver: Server, greet: Greet, cluster: Cluster) -> None:
    async with operating(apiserver):
        greet("one", "world")
        await until(lambda: cluster.text("one"))
        cluster.client.request("DELETE", f"{GREETINGS}/one")
        await until(lambda: not cluster.client.request("GET", GREETINGS)["items"])

    assert cluster.child("one") == ""


async def test_a_greeting_gets_an_event(apiserver: Server, greet: Greet, cluster: Cluster) -> None:
    async with operating(apiserver):
        greet("one", "world")
        events = await until(lambda: cluster.client.request("GET", f"{EVENTS}?fieldSelector=reason=Greeted")["items"])

    assert [(event["message"], event["involvedObject"]["name"]) for event in events] == [("Hello, world!", "one")]


async def test_nobody_is_not_greeted(apiserver: Server, greet: Greet, cluster: Cluster) -> None:
    async with operating(apiserver):
        greet("one", "nobody")
        greet("two", "world")
        await until(lambda: cluster.text("two"))

    assert apiserver.requests.matching(verb="create", resource="configmaps", name="one") == []


async def test_an_expired_watch_begins_again(apiserver: Server, greet: Greet, cluster: Cluster) -> None:
    async with operating(apiserver):
        apiserver.inject("gone", verb="watch", resource="greetings.example.com", count=1)
        greet("one", "world")

        assert await until(lambda: cluster.text("one")) == "Hello, world!"


@pytest.mark.parametrize("code", [500, 503])
async def test_a_failed_write_is_repeated(apiserver: Server, greet: Greet, cluster: Cluster, code: int) -> None:
    async with operating(apiserver):
        with apiserver.fault("error", verb="create", resource="configmaps", code=code, count=1) as fault:
            greet("one", "world")
            text = await until(lambda: cluster.text("one"))

    assert (text, fault.injected) == ("Hello, world!", 1)


async def test_a_write_on_a_broken_connection_is_repeated(apiserver: Server, greet: Greet, cluster: Cluster) -> None:
    async with operating(apiserver):
        with apiserver.fault("cut-before", verb="patch", resource="greetings.example.com", count=1) as fault:
            greet("one", "world")
            text = await until(lambda: cluster.text("one"))

    assert (text, fault.injected) == ("Hello, world!", 1)
