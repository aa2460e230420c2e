"""Tests of the operator: its single steps, and all of it in a task."""

import asyncio

import kr8s
import pytest

from aio_apiserver.testing import Server
from examples.conftest import GREETINGS, Greet
from examples.kr8s_operator.operator import Operator, running

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
async def operator(apiserver: Server) -> Operator:
    return Operator(await apiserver.clients.kr8s_asyncio())


def texts(apiserver: Server) -> dict[str, str]:
    with apiserver.client() as client:
        return {one["metadata"]["name"]: one["data"]["text"] for one in client.request("GET", CONFIG_MAPS)["items"]}


async def wait_for(apiserver: Server, wanted: dict[str, str]) -> None:
    while texts(apiserver) != wanted:  # noqa: ASYNC110 - the text has no event
        await asyncio.sleep(0.01)  # the operator shares the loop


@pytest.mark.parametrize("who", ["world", "Ada", "Grace", "Barbara", "Radia", "Frances", "Jean", "Lynn"])
async def test_a_greeting_gets_its_text(operator: Operator, apiserver: Server, greet: Greet, who: str) -> None:
    greet("one", who)

    await operator.resync()

    assert texts(apiserver) == {"one": f"Hello, {who}!"}


@pytest.mark.parametrize("count", [0, 1, 2, 5, 10])
async def test_every_greeting_gets_a_config_map(
    operator: Operator, apiserver: Server, greet: Greet, count: int
) -> None:
    for number in range(count):
        greet(f"number-{number}", "all")

    await operator.resync()

    assert len(texts(apiserver)) == count


async def test_the_config_map_of_a_deleted_greeting_is_deleted(
    operator: Operator, apiserver: Server, greet: Greet
) -> None:
    greet("one", "world")
    await operator.resync()
    with apiserver.client() as client:
        client.request("DELETE", f"{GREETINGS}/one")

    await operator.resync()

    assert texts(apiserver) == {}


@pytest.mark.parametrize("code", [500, 503])
async def test_a_failure_is_not_hidden(operator: Operator, apiserver: Server, greet: Greet, code: int) -> None:
    greet("one", "world")

    with apiserver.fault("error", verb="create", resource="configmaps", code=code), pytest.raises(kr8s.ServerError):
        await operator.resync()


async def test_a_lost_answer_makes_no_second_config_map(operator: Operator, apiserver: Server, greet: Greet) -> None:
    greet("one", "world")
    with apiserver.fault("cut-after", verb="create", resource="configmaps", count=1):
        await asyncio.gather(operator.resync(), return_exceptions=True)

    await operator.resync()

    assert texts(apiserver) == {"one": "Hello, world!"}


@pytest.mark.parametrize("who", ["moon", "sun"])
async def test_it_follows_created_and_deleted_greetings(
    operator: Operator, apiserver: Server, greet: Greet, who: str
) -> None:
    async with running(operator):
        greet("one", who)
        await wait_for(apiserver, {"one": f"Hello, {who}!"})
        with apiserver.client() as client:
            client.request("DELETE", f"{GREETINGS}/one")
        await wait_for(apiserver, {})


async def test_it_watches_again_after_a_broken_connection(operator: Operator, apiserver: Server, greet: Greet) -> None:
    async with running(operator):
        greet("one", "world")
        await wait_for(apiserver, {"one": "Hello, world!"})
        apiserver.inject("cut-watch", resource="greetings.example.com", count=1)
        greet("two", "world")

        await wait_for(apiserver, {"one": "Hello, world!", "two": "Hello, world!"})
