"""An etcd of one member for each test, and an engine on it."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from tests.storage.kv.etcd_server import Member


@pytest.fixture
def member(etcd_binary: Path) -> Iterator[Member]:
    with Member(binary=etcd_binary) as member:
        yield member


@pytest.fixture
async def kv(member: Member) -> AsyncIterator[EtcdKV]:
    engine = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
    yield engine
    await engine.close()
