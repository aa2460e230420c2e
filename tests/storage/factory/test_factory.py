"""Factory: the storage of each resource, its servers and keys, and closing."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.codec import MSGPACK
from aio_apiserver.storage.encryption.config import InvalidEncryptionConfig
from aio_apiserver.storage.errors import Closed, DataDirLocked, InvalidOptions, NotStorable
from aio_apiserver.storage.factory import servers_overrides
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.factory.measured_origin import MeasuredOrigin
from aio_apiserver.storage.interface import ListOptions, Resource
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.store.compactor import KEY
from tests.storage.encryption import encryption_files as files
from tests.storage.kv import steps as kv_steps
from tests.storage.kv.etcd_server import Member
from tests.storage.steps import Watcher

PODS = Resource(group="", resource="pods", namespaced=True)
SERVICES = Resource(group="", resource="services", namespaced=True, place="services/specs")
SECRETS = Resource(group="", resource="secrets", namespaced=True)
EVENTS = Resource(group="", resource="events", namespaced=True, is_cached=False)
CRONTABS = Resource(
    group="stable.example.com", resource="crontabs", namespaced=True, place="stable.example.com/crontabs"
)


def named(name: str) -> Object:
    return {"metadata": {"name": name, "namespace": "default"}}


@pytest.fixture(scope="module")
def member() -> Iterator[Member]:
    with Member() as member:
        yield member


@pytest.fixture(scope="module")
def other_member() -> Iterator[Member]:
    with Member() as member:
        yield member


async def keys_on(member: Member, prefix: bytes) -> list[bytes]:
    kv = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
    try:
        return await kv_steps.keys_of(kv, prefix)
    finally:
        await kv.close()


class TestStorages:
    async def test_a_resource_is_cached(self) -> None:
        async with StorageFactory(StorageConfig()) as factory:
            storage = factory.storage_for(PODS)
            created = await storage.create("default/a", named("a"))

            assert isinstance(storage, Cacher)
            assert (await storage.get("default/a")).json == created.json

    async def test_events_are_not_cached(self) -> None:
        async with StorageFactory(StorageConfig()) as factory:
            assert isinstance(factory.storage_for(EVENTS), MeasuredOrigin)

    async def test_nothing_is_cached_when_caches_are_off(self) -> None:
        async with StorageFactory(StorageConfig(watch_cache=False)) as factory:
            assert isinstance(factory.storage_for(PODS), MeasuredOrigin)

    async def test_a_resource_can_be_left_uncached(self) -> None:
        config = StorageConfig(uncached=frozenset({("stable.example.com", "crontabs")}))
        async with StorageFactory(config) as factory:
            assert isinstance(factory.storage_for(CRONTABS), MeasuredOrigin)
            assert isinstance(factory.storage_for(PODS), Cacher)

    async def test_a_resource_has_one_storage(self) -> None:
        async with StorageFactory(StorageConfig()) as factory:
            assert factory.storage_for(PODS) is factory.storage_for(PODS)
            assert factory.storage_for(PODS) is not factory.storage_for(SERVICES)

    async def test_a_retired_resource_gets_a_new_storage_with_the_same_objects(self) -> None:
        async with StorageFactory(StorageConfig()) as factory:
            old = factory.storage_for(CRONTABS)
            created = await old.create("default/a", named("a"))
            watcher = await Watcher.on(old)
            await watcher.take(1)

            retired = factory.retire(CRONTABS)
            new = factory.storage_for(CRONTABS)
            assert retired is old
            await retired.close()

            await watcher.ended()
            assert new is not old
            assert (await new.get("default/a")).json == created.json

    async def test_statistics_name_everything(self) -> None:
        async with StorageFactory(StorageConfig()) as factory:
            factory.storage_for(EVENTS)
            factory.storage_for(CRONTABS)
            statistics = factory.statistics()

        assert list(statistics["storages"]) == ["events", "crontabs.stable.example.com"]
        assert list(statistics["backends"]) == ["etcd"]


class TestPlaces:
    async def test_objects_are_where_kube_apiserver_has_them(self, member: Member) -> None:
        etcd = EtcdConfig(endpoints=[member.endpoint])
        async with StorageFactory(StorageConfig(etcd=etcd, prefix="places")) as factory:
            for resource in (PODS, SERVICES, EVENTS, CRONTABS):
                await factory.storage_for(resource).create("default/a", named("a"))

        assert await keys_on(member, b"/places/") == [
            b"/places/events/default/a",
            b"/places/pods/default/a",
            b"/places/services/specs/default/a",
            b"/places/stable.example.com/crontabs/default/a",
        ]

    async def test_overridden_resources_are_on_their_own_servers(self, member: Member, other_member: Member) -> None:
        config = StorageConfig(
            etcd=EtcdConfig(endpoints=[member.endpoint]),
            prefix="/overrides",
            overrides=[servers_overrides.parse(f"/events#{other_member.endpoint}")],
        )
        async with StorageFactory(config) as factory:
            for resource in (PODS, EVENTS):
                await factory.storage_for(resource).create("default/a", named("a"))
            health = await factory.health()

        assert await keys_on(member, b"/overrides/") == [b"/overrides/pods/default/a"]
        assert await keys_on(other_member, b"/overrides/") == [b"/overrides/events/default/a"]
        assert {name: answer.healthy for name, answer in health.items()} == {"etcd": True, "etcd-override-0": True}

    async def test_overrides_work_beside_an_embedded_store(self, member: Member) -> None:
        config = StorageConfig(
            prefix="/beside", overrides=[servers_overrides.parse(f"stable.example.com/*#{member.endpoint}")]
        )
        async with StorageFactory(config) as factory:
            for resource in (PODS, CRONTABS):
                await factory.storage_for(resource).create("default/a", named("a"))

        assert await keys_on(member, b"/beside/") == [b"/beside/stable.example.com/crontabs/default/a"]

    async def test_an_override_to_the_same_servers_shares_their_engine(self, member: Member) -> None:
        config = StorageConfig(
            etcd=EtcdConfig(endpoints=[member.endpoint]),
            prefix="/same",
            overrides=[servers_overrides.parse(f"/events#{member.endpoint}")],
        )
        async with StorageFactory(config) as factory:
            assert list(await factory.health()) == ["etcd"]

    async def test_values_are_in_the_format_that_was_asked_for(self, member: Member) -> None:
        etcd = EtcdConfig(endpoints=[member.endpoint])
        kv = EtcdKV(etcd)
        values: list[bytes] = []
        for media_type in ("application/msgpack", "application/json"):
            config = StorageConfig(etcd=etcd, prefix="/format", media_type=media_type)
            async with StorageFactory(config) as factory:
                storage = factory.storage_for(PODS)
                await storage.create(f"default/{len(values)}", named("a"))
                record = await kv_steps.read(kv, b"/format/pods/default/%d" % len(values))
                assert record is not None
                values.append(record.value)
                assert len((await storage.get_list("", ListOptions())).items) == len(values)
        await kv.close()

        assert [value.startswith(MSGPACK.magic) for value in values] == [True, False]
        assert values[1].startswith(b'{"metadata":')

    def test_an_unknown_format_is_refused(self) -> None:
        with pytest.raises(InvalidOptions, match="allowed values: application/msgpack, application/json"):
            StorageFactory(StorageConfig(media_type="application/yaml"))


def write_configuration(path: Path) -> Path:
    path.write_bytes(files.configuration(files.rule(["secrets"], files.keyed("aesgcm", "key1"))))
    return path


class TestEmbedded:
    async def test_objects_are_still_there_when_it_is_opened_again(self, tmp_path: Path) -> None:
        config = StorageConfig(data_dir=tmp_path)
        async with StorageFactory(config) as factory:
            created = await factory.storage_for(PODS).create("default/a", named("a"))

        async with StorageFactory(config) as factory:
            found = await factory.storage_for(PODS).get("default/a")

        assert found.json == created.json

    async def test_two_servers_cannot_have_one_directory(self, tmp_path: Path) -> None:
        config = StorageConfig(data_dir=tmp_path)
        async with StorageFactory(config):
            with pytest.raises(DataDirLocked):
                async with StorageFactory(config):
                    raise AssertionError("the factory opened")


class TestEncryption:
    async def test_resources_are_encrypted_as_the_file_says(self, member: Member, tmp_path: Path) -> None:
        kv = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
        config = StorageConfig(
            etcd=EtcdConfig(endpoints=[member.endpoint]),
            prefix="/encrypted",
            encryption_config=write_configuration(tmp_path / "encryption.yaml"),
        )
        async with StorageFactory(config) as factory:
            for resource in (PODS, SECRETS):
                created = await factory.storage_for(resource).create("default/a", named("a"))
                assert (await factory.storage_for(resource).get("default/a")).json == created.json
            records = (await kv.range(b"/encrypted/", b"/encrypted0")).records
        await kv.close()

        assert [record.value.startswith(b"k8s:enc:aesgcm:v1:key1:") for record in records] == [False, True]

    async def test_a_file_that_is_checked_again_has_a_health_check(self, tmp_path: Path) -> None:
        config = StorageConfig(
            encryption_config=write_configuration(tmp_path / "encryption.yaml"), reloads_encryption_config=True
        )
        async with StorageFactory(config, clock=ManualClock()) as factory:
            health = await factory.health()
            names = factory.health_names

        assert list(health) == list(names)
        assert [(name, answer.healthy) for name, answer in health.items()] == [("etcd", True), ("kms-providers", True)]

    async def test_a_file_that_cannot_be_used_is_an_error_at_the_start(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidEncryptionConfig):
            async with StorageFactory(StorageConfig(encryption_config=tmp_path / "missing.yaml")):
                raise AssertionError("the factory opened")


class TestLife:
    async def test_leaving_closes_everything(self) -> None:
        async with StorageFactory(StorageConfig()) as factory:
            storages = [factory.storage_for(resource) for resource in (PODS, EVENTS)]
            watchers = [await Watcher.on(storage) for storage in storages]

        for watcher in watchers:
            await watcher.ended()
        for storage in storages:
            with pytest.raises(Closed):
                await storage.create("default/a", named("a"))

    async def test_servers_that_cannot_be_reached_do_not_hold_up_the_start(self) -> None:
        nowhere = EtcdConfig(endpoints=["http://127.0.0.1:1"], deadline=0.5)
        async with StorageFactory(StorageConfig(etcd=nowhere)) as factory:
            factory.storage_for(PODS)
            (answer,) = (await factory.health()).values()

        assert not answer.healthy
        assert answer.reason

    async def test_every_engine_is_compacted(self, member: Member, other_member: Member) -> None:
        clock = ManualClock()
        config = StorageConfig(
            etcd=EtcdConfig(endpoints=[member.endpoint]),
            overrides=[servers_overrides.parse(f"/events#{other_member.endpoint}")],
            compaction_interval=60,
        )
        async with StorageFactory(config, clock=clock) as factory, asyncio.timeout(20):
            turns = 0
            while turns < 2:
                clock.advance(60)
                await asyncio.sleep(0.01)
                compactors = [backend["compactor"] for backend in factory.statistics()["backends"].values()]
                turns = min(compactor["won"] + compactor["lost"] for compactor in compactors)

        for each in (member, other_member):
            assert await keys_on(each, KEY) == [KEY]


async def test_a_type_that_no_codec_can_write_is_refused_when_its_storage_is_opened() -> None:
    async with StorageFactory(StorageConfig()) as factory:
        with pytest.raises(NotStorable):
            factory.storage_for(Resource(group="", resource="pods", namespaced=True, type_meta={"kind": "\ud800"}))
