"""Tests of the controller: its single steps, and all of it in a thread."""

import threading
from collections.abc import Iterator

import pytest
from kubernetes import client

from aio_apiserver.testing import Server
from examples.conftest import GREETINGS, Greet
from examples.official_client.controller import Controller, name_of


@pytest.fixture
def api(apiserver: Server) -> Iterator[client.ApiClient]:
    with apiserver.clients.kubernetes() as made:
        yield made


@pytest.fixture
def controller(api: client.ApiClient) -> Controller:
    return Controller(api)


def texts(api: client.ApiClient) -> dict[str, str]:
    found = client.CoreV1Api(api).list_namespaced_config_map("default").items
    return {name_of(one): (one.data or {})["text"] for one in found}


@pytest.mark.parametrize("who", ["world", "Ada", "Grace", "Barbara", "Radia", "Frances", "Jean", "Lynn"])
def test_a_greeting_gets_its_text(controller: Controller, api: client.ApiClient, greet: Greet, who: str) -> None:
    greet("one", who)

    controller.resync()

    assert texts(api) == {"one": f"Hello, {who}!"}


@pytest.mark.parametrize("count", [0, 1, 2, 5, 10])
def test_every_greeting_gets_a_config_map(
    controller: Controller, api: client.ApiClient, greet: Greet, count: int
) -> None:
    for number in range(count):
        greet(f"number-{number}", "all")

    controller.resync()

    assert len(texts(api)) == count


def test_the_status_says_the_text(controller: Controller, apiserver: Server, greet: Greet) -> None:
    greet("one", "world")

    controller.resync()

    with apiserver.client() as asking:
        assert asking.request("GET", f"{GREETINGS}/one")["status"] == {"text": "Hello, world!"}


def test_an_up_to_date_status_is_not_written(controller: Controller, apiserver: Server, greet: Greet) -> None:
    greet("one", "world")
    controller.resync()
    controller.resync()

    assert len(apiserver.requests.matching(verb="patch", resource="greetings.example.com/status")) == 1


def test_a_changed_config_map_is_repaired(controller: Controller, api: client.ApiClient, greet: Greet) -> None:
    greet("one", "world")
    controller.resync()
    client.CoreV1Api(api).patch_namespaced_config_map("one", "default", {"data": {"text": "Go away!"}})

    controller.resync()

    assert texts(api) == {"one": "Hello, world!"}


def test_the_config_map_of_a_deleted_greeting_is_deleted(
    controller: Controller, api: client.ApiClient, apiserver: Server, greet: Greet
) -> None:
    greet("one", "world")
    controller.resync()
    with apiserver.client() as asking:
        asking.request("DELETE", f"{GREETINGS}/one")

    controller.resync()

    assert texts(api) == {}


@pytest.mark.parametrize("code", [500, 503])
def test_a_failure_is_not_hidden(controller: Controller, apiserver: Server, greet: Greet, code: int) -> None:
    greet("one", "world")

    failing = apiserver.fault("error", verb="create", resource="configmaps", code=code)
    with failing, pytest.raises(client.ApiException, match=str(code)):
        controller.resync()


def test_it_lists_again_after_an_expired_watch(
    controller: Controller, api: client.ApiClient, apiserver: Server, greet: Greet
) -> None:
    apiserver.inject("gone", verb="watch", resource="greetings.example.com", count=2)
    written, stop = threading.Event(), threading.Event()
    sync = controller.sync
    controller.sync = lambda greeting: (sync(greeting), written.set())  # type: ignore[assignment, func-returns-value]
    thread = threading.Thread(target=controller.run, args=(stop,))
    thread.start()
    greet("one", "world")

    assert written.wait(5)
    stop.set()
    apiserver.inject("gone", verb="watch", resource="greetings.example.com")
    thread.join()
    assert texts(api) == {"one": "Hello, world!"}
