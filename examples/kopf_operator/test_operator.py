"""The operator, in the event loop of each test."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import kopf
import pytest

from apiserver.testing import Server
from examples.conftest import GREETINGS, Greet
from examples.kopf_operator import operator


@asynccontextmanager
async def operating(apiserver: Server) -> AsyncIterator[None]:
    """The operator, from when it is ready until it has ended. No fixture: kopf ends all tasks that are not its own."""
    registry = kopf.OperatorRegistry()
    operator.register(registry)
    kopf.on.login(registry=registry)(lambda **_: apiserver.clients.kopf())
    ready, stop = asyncio.Event(), asyncio.Event()
    running = asyncio.create_task(
        kopf.operator(registry=registry, standalone=True, namespaces=["default"], ready_flag=ready, stop_flag=stop)
    )
    await ready.wait()
    yield
    stop.set()
    await running


async def said(apiserver: Server, name: str, *, but: str = "") -> str:
    """What the status of a greeting says, as soon as it says something else than `but`."""
    with apiserver.client() as client:
        while True:
            greeting: dict[str, Any] = client.request("GET", f"{GREETINGS}/{name}")
            text: str = greeting.get("status", {}).get("text", "")
            if text not in ("", but):
                return text
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("who", ["world", "Ada", "Grace", "Barbara", "Radia", "Frances", "Jean", "Lynn"])
async def test_a_greeting_is_greeted(apiserver: Server, greet: Greet, who: str) -> None:
    async with operating(apiserver):
        greet("one", who)

        assert await said(apiserver, "one") == f"Hello, {who}!"


@pytest.mark.parametrize("who", ["world", "Margaret", "Edith"])
async def test_what_was_there_before_the_start_is_greeted(apiserver: Server, greet: Greet, who: str) -> None:
    greet("one", who)

    async with operating(apiserver):
        assert await said(apiserver, "one") == f"Hello, {who}!"


@pytest.mark.parametrize("count", [2, 5, 10])
async def test_all_are_greeted(apiserver: Server, greet: Greet, count: int) -> None:
    async with operating(apiserver):
        for number in range(count):
            greet(f"number-{number}", str(number))
        texts = [await said(apiserver, f"number-{number}") for number in range(count)]

    assert texts == [f"Hello, {number}!" for number in range(count)]


@pytest.mark.parametrize("who", ["moon", "sun", "stars"])
async def test_a_change_is_followed(apiserver: Server, greet: Greet, who: str) -> None:
    async with operating(apiserver):
        greet("one", "world")
        before = await said(apiserver, "one")
        with apiserver.client() as client:
            patch = {"spec": {"who": who}}
            client.request("PATCH", f"{GREETINGS}/one", patch, content_type="application/merge-patch+json")

        assert await said(apiserver, "one", but=before) == f"Hello, {who}!"


async def test_nobody_is_not_greeted(apiserver: Server, greet: Greet) -> None:
    async with operating(apiserver):
        greet("one", "nobody")
        greet("two", "world")
        await said(apiserver, "two")

    assert apiserver.requests.matching(verb="patch", subresource="status", name="one") == []


async def test_a_watch_that_is_too_old_begins_again(apiserver: Server, greet: Greet) -> None:
    async with operating(apiserver):
        apiserver.inject("gone", verb="watch", resource="greetings", count=1)
        greet("one", "world")

        assert await said(apiserver, "one") == "Hello, world!"


async def test_a_write_that_meets_a_full_server_is_made_again(apiserver: Server, greet: Greet) -> None:
    async with operating(apiserver):
        with apiserver.fault("throttle", verb="patch", count=1) as fault:
            greet("one", "world")
            text = await said(apiserver, "one")

    assert (text, fault.injected) == ("Hello, world!", 1)
