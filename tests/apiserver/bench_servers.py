"""bench_servers: Fixtures with one test server for all tests of a file, reset for each."""

from collections.abc import Iterator

import pytest

from aio_apiserver.apiserver.testing.client import BlockingClient
from aio_apiserver.testing import Server


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
def client(server: Server) -> Iterator[BlockingClient]:
    with server.client() as made:
        yield made
