"""Fixtures: one simulated cluster for all tests of a file, reset before each test."""

from collections.abc import Iterator
from typing import Any

import pytest

from aio_apiserver.testing import Server
from tests.apiserver.bench_servers import client, server

__all__ = ["client", "server"]


@pytest.fixture(scope="module")
def shared(request: pytest.FixtureRequest) -> Iterator[Server]:
    """The cluster of a file, whose clock stands still. CLUSTER of the file has more settings."""
    settings: dict[str, Any] = getattr(request.module, "CLUSTER", {})
    with Server(simulate=True, time="2026-01-01T00:00:00Z", **settings) as server:
        yield server
