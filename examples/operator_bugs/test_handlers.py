"""Tests of three handlers. Each test fails for the handler with the bug, and passes for the other one."""

from collections.abc import Callable, Collection, Iterator

import pytest
from kubernetes import client

from aio_apiserver.testing import Server
from examples.operator_bugs import handlers

Handler = Callable[[client.CoreV1Api, str], None]
Cleaner = Callable[[client.CoreV1Api, Collection[str]], None]

mistake = pytest.mark.xfail(strict=True, reason="the mistake")


@pytest.fixture
def core(apiserver: Server) -> Iterator[client.CoreV1Api]:
    with apiserver.clients.kubernetes() as api:
        api.configuration.retries = False
        yield client.CoreV1Api(api)


def children(core: client.CoreV1Api) -> list[str]:
    return [child.labels[handlers.LABEL] for child in handlers.children(core)]


@pytest.mark.parametrize(
    "on_start",
    [pytest.param(handlers.on_start_trusting_the_list, marks=mistake), handlers.on_start_with_a_name_of_its_own],
)
def test_a_stale_read_after_a_restart(apiserver: Server, core: client.CoreV1Api, on_start: Handler) -> None:
    with apiserver.fault("stale", verb="list", resource="configmaps"):
        on_start(core, "one")

        on_start(core, "one")  # the restarted operator

    assert children(core) == ["one"]


@pytest.mark.parametrize(
    "come_back",
    [
        pytest.param(handlers.after_being_away_waiting_for_events, marks=mistake),
        handlers.after_being_away_comparing,
    ],
)
def test_a_deletion_while_the_operator_is_down(core: client.CoreV1Api, come_back: Cleaner) -> None:
    handlers.ensure(core, "stays")
    handlers.ensure(core, "goes")

    come_back(core, ["stays"])

    assert children(core) == ["stays"]


@pytest.mark.parametrize(
    "create",
    [pytest.param(handlers.create_trying_again, marks=mistake), handlers.create_once_trying_again],
)
def test_a_write_that_was_stored_although_its_connection_broke(
    apiserver: Server, core: client.CoreV1Api, create: Handler
) -> None:
    with apiserver.fault("cut-after", verb="create", resource="configmaps", count=1) as fault:
        create(core, "one")

    assert fault.injected == 1
    assert children(core) == ["one"]
