"""A created object is decoded once and encoded once, for its creator, for the store, and for watchers."""

import http.client
import sys
import threading
import types
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import orjson
import pytest

from aio_apiserver.storage.codec import MSGPACK
from aio_apiserver.testing import Server

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(testing=False) as running:
        yield running


@contextmanager
def counting(server: Server) -> Iterator[Counter[str]]:
    """How often the server's thread reads and writes JSON and msgpack while the context is open."""
    counts: Counter[str] = Counter()

    def hear(frame: types.FrameType, event: str, argument: Any) -> None:
        if event == "c_call" and argument is orjson.loads:
            counts["loads"] += 1
        elif event == "c_call" and argument is orjson.dumps:
            counts["dumps"] += 1
        elif event == "c_call" and argument is MSGPACK.unpack:
            counts["unpack"] += 1
        elif event == "call" and frame.f_code.co_name == "packb":
            counts["packb"] += 1

    _profile(server, hear)
    try:
        yield counts
    finally:
        _profile(server, None)


def _profile(server: Server, hear: Any) -> None:
    async def install() -> None:
        sys.setprofile(hear)

    assert server._background is not None
    server._background.call(install())


@contextmanager
def watch(server: Server, path: str, name: str) -> Iterator[threading.Event]:
    """A watch that sets the event when it has shown an object of this name."""
    port = int(server.url.rpartition(":")[2])
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=server.tls, timeout=30)
    connection.request("GET", f"{path}?watch=1", headers={"Authorization": f"Bearer {server.admin_token}"})
    response, seen = connection.getresponse(), threading.Event()

    def read() -> None:
        while name.encode() not in response.readline():
            pass
        seen.set()

    reader = threading.Thread(target=read)
    reader.start()
    yield seen
    reader.join()
    connection.close()


def config_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "b"}}


def pod(name: str) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i"}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": containers}}


@pytest.mark.parametrize(("path", "make"), [(CONFIG_MAPS, config_map), (PODS, pod)])
def test_a_create_with_a_watcher_is_one_decoding_and_one_encoding(server: Server, path: str, make: Any) -> None:
    with server.client() as client, watch(server, path, "counted") as seen:
        client.request("POST", path, make("first"))  # fills the caches

        with counting(server) as counts:
            client.request("POST", path, make("counted"))
            assert seen.wait(30)

    assert counts == {"loads": 1, "dumps": 1, "packb": 1}
