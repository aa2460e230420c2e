from collections.abc import Iterator

import pytest

from apiserver.testing import Server
from apiserver.testing.client import Client


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    """One server for all tests of a file; no longer, since it runs in this process."""
    with Server() as server:
        yield server


@pytest.fixture
def server(shared: Server) -> Server:
    """The same one, as it was at its start."""
    shared.reset()
    return shared


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with server.client() as made:
        yield made
