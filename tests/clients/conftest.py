"""One server for all clients, as a process of its own, and a namespace for each test."""

import itertools
import ssl
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kopf
import orjson
import pytest

from tests import program
from tests.program import Program

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    with program.running(tmp_path_factory.mktemp("server"), "--bind-address=127.0.0.1") as running:
        yield running


@pytest.fixture
def kubeconfig(server: Program) -> Path:
    """The administrator's."""
    return server.kubeconfig


@pytest.fixture
def namespace(server: Program) -> str:
    """A namespace that nobody else uses."""
    name = f"test-{next(_numbers)}"
    pki = server.kubeconfig.parent / "pki"
    token = (pki / "admin.token").read_text()
    request = urllib.request.Request(  # noqa: S310 - the scheme is the server's own
        f"{server.url}/api/v1/namespaces",
        orjson.dumps({"metadata": {"name": name}}),
        {"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
    )
    tls = ssl.create_default_context(cafile=pki / "ca.crt")
    with urllib.request.urlopen(request, context=tls) as answer:  # noqa: S310 - as above
        assert answer.status == 201
    return name


@pytest.fixture
def registry(server: Program) -> kopf.OperatorRegistry:
    """What an operator does; so far, it logs in."""
    made = kopf.OperatorRegistry()
    pki = server.kubeconfig.parent / "pki"
    connection = kopf.ConnectionInfo(
        server=server.url, ca_path=str(pki / "ca.crt"), token=(pki / "admin.token").read_text()
    )

    @kopf.on.login(registry=made)
    def login(**_: Any) -> kopf.ConnectionInfo:
        return connection

    return made
