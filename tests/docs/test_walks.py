"""The walks of ARCHITECTURE.md name functions in the order in which a server calls them."""

import http.client
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from typing import Any

import pytest

from aio_apiserver.testing import Refused, Server
from tests.docs.traces import Trace, traced
from tests.paths import ROOT
from tests.storage.kv.etcd_server import Member

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
_STEP = re.compile(r"^\d+\. `([\w/]+\.py)` `([\w.]+)`", re.MULTILINE)


def config_map(name: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, **more}


def walks() -> dict[str, list[tuple[str, str]]]:
    """The steps of each walk, by its heading."""
    page = (ROOT / "ARCHITECTURE.md").read_text().partition("## Six walks")[2].partition("\n## ")[0]
    sections = (section.partition("\n") for section in page.split("\n### ")[1:])
    return {heading: _STEP.findall(text) for heading, _, text in sections}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as running:
        fill_caches(running)
        yield running


@pytest.fixture(scope="module")
def server_on_etcd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("walks")
    with Member() as etcd, Server(data_dir=folder, storage_backend="etcd3", etcd_servers=etcd.endpoint) as running:
        fill_caches(running)
        yield running


def fill_caches(server: Server) -> None:
    """The first requests, which do more than all others."""
    with server.client() as client:
        client.request("POST", CONFIG_MAPS, config_map("first"))
        client.request("GET", CONFIG_MAPS)
        apply(server, "first", {"warm": "yes"})


def apply(server: Server, name: str, data: dict[str, str]) -> None:
    target = f"{CONFIG_MAPS}/{name}?fieldManager=walker"
    with server.client() as client:
        client.request("PATCH", target, config_map(name, data=data), content_type="application/apply-patch+yaml")


def create(server: Server) -> None:
    with server.client() as client:
        client.request("POST", CONFIG_MAPS, config_map("created"))


def list_(server: Server) -> None:
    with server.client() as client:
        client.request("GET", CONFIG_MAPS)


def refused(server: Server) -> None:
    with server.user("stranger").client() as client, suppress(Refused):
        client.request("GET", CONFIG_MAPS)


@contextmanager
def watched(server: Server) -> Iterator[Callable[[], None]]:
    """A watch that is open; the result waits for its next event."""
    port = int(server.url.rpartition(":")[2])
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=server.tls, timeout=30)
    connection.request("GET", f"{CONFIG_MAPS}?watch=1", headers={"Authorization": f"Bearer {server.admin_token}"})
    response = connection.getresponse()
    seen = threading.Event()

    def read() -> None:
        while b"announced" not in response.readline():
            pass
        seen.set()

    reader = threading.Thread(target=read)
    reader.start()
    yield lambda: _wait(seen)
    reader.join()
    connection.close()


def _wait(seen: threading.Event) -> None:
    assert seen.wait(30)


@contextmanager
def announced(server: Server) -> Iterator[Callable[[], None]]:
    """A create that an open watch sees."""
    with watched(server) as wait, server.client() as client:

        def act() -> None:
            client.request("POST", CONFIG_MAPS, config_map("announced"))
            wait()

        yield act


ACTS: dict[str, Callable[[Server], Any]] = {
    "A create": lambda server: nullcontext(partial(create, server)),
    "An apply": lambda server: nullcontext(partial(apply, server, "first", {"changed": "yes"})),
    "A list": lambda server: nullcontext(partial(list_, server)),
    "A watch event to many clients": announced,
    "A request refused by RBAC": lambda server: nullcontext(partial(refused, server)),
}
"""What is done for each walk: contexts that prepare it and give the act itself."""
ON_ETCD = "A watch event from etcd"


def missing(steps: list[tuple[str, str]], trace: Trace) -> tuple[str, str] | None:
    """The first step that is not called behind the step before it. A closure counts as its function."""
    calls = iter(trace.calls)
    for file, name in steps:
        if not any(one == file and (called == name or called.startswith(f"{name}.<locals>")) for one, called in calls):
            return file, name
    return None


def test_each_walk_has_its_test() -> None:
    assert set(walks()) == {*ACTS, ON_ETCD}


@pytest.mark.parametrize("heading", ACTS)
def test_a_walk_is_what_the_server_does(server: Server, heading: str) -> None:
    steps = walks()[heading]

    with ACTS[heading](server) as act, traced(server) as trace:
        act()

    assert steps
    assert missing(steps, trace) is None


def test_the_walk_from_etcd_is_what_the_server_does(server_on_etcd: Server) -> None:
    steps = walks()[ON_ETCD]

    with announced(server_on_etcd) as act, traced(server_on_etcd) as trace:
        act()

    assert steps
    assert missing(steps, trace) is None
