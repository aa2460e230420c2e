"""Shared secrets: one value for all servers on an etcd, encrypted like Kubernetes secrets."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.factory.shared_secrets import SharedSecrets
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from tests.storage.encryption.encryption_files import configuration, keyed, rule
from tests.storage.kv.etcd_server import Member

SERVERS = 10


@pytest.fixture(scope="module")
def etcd() -> Iterator[Member]:
    with Member() as member:
        yield member


@asynccontextmanager
async def opened(etcd: Member, prefix: str, encryption: Path | None = None) -> AsyncIterator[SharedSecrets]:
    config = StorageConfig(
        etcd=EtcdConfig(endpoints=[etcd.endpoint]), prefix=prefix, encryption_config=encryption, watch_cache=False
    )
    async with StorageFactory(config) as factory:
        shared = factory.shared_secrets
        assert shared is not None
        yield shared


async def stored(etcd: Member, key: bytes) -> bytes:
    kv = EtcdKV(EtcdConfig(endpoints=[etcd.endpoint]))
    try:
        record = (await kv.get(key)).record
    finally:
        await kv.close()
    assert record is not None
    return record.value


async def never() -> bytes:
    raise AssertionError


async def test_an_embedded_store_shares_nothing() -> None:
    async with StorageFactory(StorageConfig()) as factory:
        assert factory.shared_secrets is None


async def test_servers_that_start_together_agree_on_one_value(etcd: Member) -> None:
    async with opened(etcd, "/together") as shared:

        async def offer(number: int) -> bytes:
            async def make() -> bytes:
                return b"value of %d" % number

            return await shared.get_or_create("ca", make)

        found = await asyncio.gather(*(offer(number) for number in range(SERVERS)))

    assert len(set(found)) == 1


async def test_a_value_that_is_there_is_not_made_again(etcd: Member) -> None:
    async def make() -> bytes:
        return b"first"

    async with opened(etcd, "/again") as one, opened(etcd, "/again") as other:
        await one.get_or_create("ca", make)

        assert await other.get_or_create("ca", never) == b"first"


async def test_the_key_can_be_no_custom_resource(etcd: Member) -> None:
    async def make() -> bytes:
        return b"first"

    async with opened(etcd, "/place") as shared:
        await shared.get_or_create("ca", make)

    assert await stored(etcd, b"/place/_aio-apiserver.io/shared/ca") == b"first"


async def test_a_value_is_encrypted_as_secrets_are_and_again_with_a_newer_key(etcd: Member, tmp_path: Path) -> None:
    async def make() -> bytes:
        return b"confidential"

    key = b"/sealed/_aio-apiserver.io/shared/ca"
    before, after = tmp_path / "before.yaml", tmp_path / "after.yaml"
    before.write_bytes(configuration(rule(["secrets"], keyed("secretbox", "old"))))
    after.write_bytes(configuration(rule(["secrets"], keyed("secretbox", "new", "old"))))

    async with opened(etcd, "/sealed", before) as shared:
        await shared.get_or_create("ca", make)
    with_old = await stored(etcd, key)
    async with opened(etcd, "/sealed", after) as shared:
        found = await shared.get_or_create("ca", never)
    with_new = await stored(etcd, key)

    assert found == b"confidential"
    assert with_old.startswith(b"k8s:enc:secretbox:v1:old:")
    assert with_new.startswith(b"k8s:enc:secretbox:v1:new:")
