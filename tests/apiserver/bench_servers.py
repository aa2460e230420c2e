"""Bench servers: fixtures with one test server for all tests of a file, reset before each test."""

from collections.abc import Iterator

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    """One server for all tests of a file. It ends with the file, since it runs in this process."""
    with Server() as server:
        yield server


@pytest.fixture
def server(shared: Server) -> Server:
    """The shared server, reset to its start."""
    shared.reset()
    return shared


@pytest.fixture
def client(server: Server) -> Iterator[BlockingClient]:
    with server.client() as made:
        yield made
