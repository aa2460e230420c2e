"""A write reads the body once, and encodes the object once as JSON and once as it is stored."""

import sys
import types
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import msgpack
import orjson

from aio_apiserver.testing import Server

PODS = "/api/v1/namespaces/default/pods"
ENCODERS: dict[object, str] = {orjson.loads: "loads", orjson.dumps: "dumps"}


def pod(name: str) -> dict[str, Any]:
    container = {"name": "c", "image": "nginx:1.25", "env": [{"name": "A", "value": "b"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container]}}


def encodings(server: Server, act: Callable[[], object]) -> Counter[str]:
    """The calls of encoders in the server's thread while the client acts."""
    found: Counter[str] = Counter()

    def hear(frame: types.FrameType, event: str, called: object) -> None:
        if event == "c_call" and isinstance(called, types.BuiltinFunctionType) and called in ENCODERS:
            found[ENCODERS[called]] += 1
        elif event == "call" and frame.f_code is msgpack.packb.__code__:
            found["packb"] += 1

    async def install(listener: Any) -> None:
        sys.setprofile(listener)

    background = server._background
    assert background is not None
    background.call(install(hear))
    act()
    background.call(install(None))
    return found


def test_a_create_walks_the_object_once_a_format() -> None:
    with Server(testing=False) as server, server.client() as client:
        client.request("POST", PODS, pod("first"))  # fills the caches

        counted = encodings(server, partial(client.request, "POST", PODS, pod("second")))

    assert counted == {"loads": 1, "dumps": 1, "packb": 1}
