import http.client
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Queue
from typing import Any

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient, Refused
from tests.testing.objects import CONFIG_MAPS, make, names

ENDED = ("ended", "")
PATIENCE = 60.0
"""The seconds after which a missing event is a failure."""


@contextmanager
def watching(server: Server, version: str) -> Iterator["Queue[tuple[str, str]]"]:
    """The events of a watch of config maps: type and name, then its end."""
    said: Queue[tuple[str, str]] = Queue()
    connection = http.client.HTTPSConnection("localhost", int(server.url.rpartition(":")[2]), context=server.tls)
    path = f"{CONFIG_MAPS}?watch=true&resourceVersion={version}"
    connection.request("GET", path, headers={"Authorization": f"Bearer {server.admin_token}"})

    def follow(response: http.client.HTTPResponse) -> None:
        with suppress(http.client.HTTPException, OSError):
            for line in response:
                event = json.loads(line)
                named = event["object"]
                said.put((event["type"], str(named.get("code") or named["metadata"]["name"])))
        said.put(ENDED)

    with connection.getresponse() as response:
        thread = threading.Thread(target=follow, args=(response,))
        thread.start()
        try:
            yield said
        finally:
            with server.fault("cut-watch"):
                thread.join()
    connection.close()


def version_of(client: BlockingClient) -> str:
    version: str = client.request("GET", CONFIG_MAPS)["metadata"]["resourceVersion"]
    return version


def test_a_reset_leaves_what_was_there_at_the_start(server: Server, client: BlockingClient) -> None:
    make(client, "new")

    server.reset()

    assert names(client) == []
    assert names(client, f"{CONFIG_MAPS}?resourceVersion=0") == []


def test_versions_go_on_behind_a_restore(server: Server, client: BlockingClient) -> None:
    snapshot = server.snapshot()
    before = make(client, "new")["metadata"]["resourceVersion"]

    server.restore(snapshot)

    assert int(version_of(client)) > int(before)


def test_a_watch_is_told_of_what_a_restore_changes(server: Server, client: BlockingClient) -> None:
    make(client, "old")
    snapshot = server.snapshot()
    client.request("DELETE", f"{CONFIG_MAPS}/old")
    make(client, "new")

    with watching(server, version_of(client)) as said:
        server.restore(snapshot)

        assert {said.get(timeout=PATIENCE), said.get(timeout=5)} == {("ADDED", "old"), ("DELETED", "new")}


def test_a_restore_that_expires_ends_watches_with_410(server: Server, client: BlockingClient) -> None:
    snapshot = server.snapshot()

    with watching(server, version_of(client)) as said:
        make(client, "new")
        assert said.get(timeout=PATIENCE) == ("ADDED", "new")
        server.restore(snapshot, expires=True)
        told = [said.get(timeout=PATIENCE) for _ in range(3)]

    assert told == [("DELETED", "new"), ("ERROR", "410"), ENDED]


MANY = 1_200
"""More objects than a restore sends to watches as events."""


def manifests_of_many() -> list[dict[str, Any]]:
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"many-{number}", "namespace": "default"}}
        for number in range(MANY)
    ]


def test_a_great_restore_ends_the_watches_that_would_be_told_most(server: Server, client: BlockingClient) -> None:
    snapshot = server.snapshot()
    server.apply(*manifests_of_many())
    version = version_of(client)

    with watching(server, version) as said:
        server.restore(snapshot)
        ended = said.get(timeout=PATIENCE)
    with watching(server, version) as said:
        too_old = said.get(timeout=PATIENCE)

    assert (ended, too_old) == (ENDED, ("ERROR", "410"))
    assert names(client) == names(client, f"{CONFIG_MAPS}?resourceVersion=0") == []


def test_states_are_kept_over_http(client: BlockingClient) -> None:
    client.request("PUT", "/testing/snapshots/clean")
    make(client, "new")

    client.request("POST", "/testing/snapshots/clean/restore")

    assert names(client) == []
    assert "clean" in client.request("GET", "/testing/snapshots")["snapshots"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/testing/snapshots/missing/restore", 400),
        ("PUT", "/testing/reset", 405),
        ("POST", "/testing/nothing", 404),
        ("GET", "/testing/requests?colour=blue", 400),
    ],
)
def test_what_the_bench_does_not_know_is_refused(client: BlockingClient, method: str, path: str, status: int) -> None:
    with pytest.raises(Refused) as refusal:
        client.request(method, path)

    assert refusal.value.status == status


def test_anonymous_users_cannot_use_the_bench() -> None:
    with Server(authorization_mode=("AlwaysAllow",)) as server, server.client() as client:
        client.token = ""
        with pytest.raises(Refused) as refusal:
            client.request("POST", "/testing/reset")

    assert refusal.value.status == 401


def test_a_server_that_serves_has_no_bench() -> None:
    with Server(testing=False) as server, server.client() as client, pytest.raises(Refused) as refusal:
        client.request("GET", "/testing/faults")

    assert refusal.value.status == 404
