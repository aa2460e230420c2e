"""Simulated clusters: fixtures with one simulated cluster for all tests of a file, whose clock a test moves.

The clock begins at START. The cluster is reset before each test.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.client import BlockingClient

START = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def shared_cluster() -> Iterator[Server]:
    with Server(time=START, controllers=("*",), simulate=True) as server:
        server.clock.advance(1)
        server.set_baseline()
        yield server


@pytest.fixture
def cluster(shared_cluster: Server) -> Server:
    shared_cluster.reset()
    return shared_cluster


@pytest.fixture
def admin(cluster: Server) -> Iterator[BlockingClient]:
    with cluster.client() as made:
        yield made
