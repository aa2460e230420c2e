"""Reads and writes of many clients are linearizable: on the embedded store, and over two replicas on etcd."""

from pathlib import Path

import pytest

from aio_apiserver.testing import Server
from aio_apiserver.testing.server_settings import ServerSettings
from tests.reliability import histories
from tests.reliability.histories import replica_of
from tests.storage.kv.etcd_server import Member, binaries

OPERATIONS = 400


@pytest.mark.parametrize("backend", ["memory", "sqlite"])
async def test_one_server_is_linearizable(backend: str) -> None:
    async with Server(storage_backend=backend) as server:
        found = await histories.collect([replica_of(server)], operations=OPERATIONS)

    assert sum(map(len, found.values())) >= OPERATIONS
    assert histories.contradictions(found) == {}


@pytest.mark.parametrize("binary", binaries().values(), ids=list(binaries()))
async def test_two_replicas_on_etcd_are_linearizable(binary: Path) -> None:
    with Member(binary=binary) as member:
        settings = ServerSettings(storage_backend="etcd3", etcd_servers=member.endpoint)
        async with Server(**settings) as one, Server(**settings) as other:
            found = await histories.collect([replica_of(one), replica_of(other)], operations=OPERATIONS)

    assert histories.contradictions(found) == {}
