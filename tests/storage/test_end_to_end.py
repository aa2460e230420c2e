"""All of storage as in a server: the factory's Cachers on real stores, replicas, outages, encryption."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.encryption.service import POLL_SECONDS
from aio_apiserver.storage.errors import (
    DeadlineExceeded,
    KeyExists,
    KeyNotFound,
    PreconditionFailed,
    Unavailable,
)
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.interface import ListOptions, Preconditions, Storage, WatchEvent
from aio_apiserver.storage.kv.etcd import EtcdConfig, EtcdKV
from aio_apiserver.storage.kv.interface import Event
from tests.storage.encryption import encryption_files as files
from tests.storage.kv import steps as kv_steps
from tests.storage.kv.etcd_server import Member
from tests.storage.steps import (
    WIDGETS,
    Watcher,
    create,
    in_time,
    keys,
    labelled,
    set_labels,
    set_spec,
    unchanged,
    with_field,
)

PREFIX = b"/registry/widgets/"


@pytest.fixture
def member() -> Iterator[Member]:
    with Member() as member:
        yield member


@asynccontextmanager
async def opened(config: StorageConfig, clock: ManualClock | None = None) -> AsyncIterator[Cacher]:
    """The widgets of one server."""
    async with StorageFactory(config, clock=clock) as factory:
        storage = factory.storage_for(WIDGETS)
        assert isinstance(storage, Cacher)
        yield storage


def on(member: Member) -> StorageConfig:
    return StorageConfig(etcd=EtcdConfig(endpoints=[member.endpoint]))


class TestEveryEngine:
    @pytest.fixture(params=["sqlite", "etcd"])
    def config(self, request: pytest.FixtureRequest, tmp_path: Path) -> StorageConfig:
        if request.param == "sqlite":
            return StorageConfig(data_dir=tmp_path)
        return on(request.getfixturevalue("member"))

    async def test_a_server_tells_the_same_story_on_every_engine(self, config: StorageConfig) -> None:
        async with opened(config) as storage, opened(StorageConfig()) as in_memory:
            assert await in_time(story_of(storage)) == await in_time(story_of(in_memory))

    async def test_a_server_that_comes_back_goes_on_where_it_was(self, config: StorageConfig) -> None:
        async with opened(config) as storage:
            created = await create(storage, "a", color="red")
            changed = await set_spec(storage, created, color="blue")
            listed = await storage.get_list("", ListOptions())

        async with opened(config) as storage:
            watcher = await Watcher.on(storage, resource_version=listed.revision)
            again = await storage.get_list("", ListOptions())
            later = await set_spec(storage, created, color="green")

            assert [item.json for item in again.items] == [changed.json]
            assert again.revision >= listed.revision
            assert [event.revision for event in await watcher.take(1)] == [later.revision]


async def test_a_watch_goes_on_at_a_server_that_was_started_later(tmp_path: Path) -> None:
    config = StorageConfig(data_dir=tmp_path)
    async with opened(config) as storage:
        created = await create(storage, "a", color="red")
        changed = await set_spec(storage, created, color="blue")

    async with opened(config) as storage:
        listed = await storage.get_list("", ListOptions())
        watcher = await Watcher.on(storage, resource_version=created.revision)

        assert [item.revision for item in listed.items] == [changed.revision]
        assert [event.revision for event in await watcher.take(1)] == [changed.revision]


async def story_of(storage: Storage) -> list[object]:
    """What a client sees during some calls; revisions as distances from the first."""
    story: list[object] = []
    first = await create(storage, "a", color="red", labels={"tier": "front"})
    watcher = await Watcher.on(storage, resource_version=first.revision)
    red = await Watcher.on(storage, predicate=with_field("spec.color", "red"), resource_version=first.revision)
    second = await create(storage, "b", color="blue", labels={"tier": "back"})
    await create(storage, "c", namespace="other", color="red")
    for refused in (
        create(storage, "a"),
        storage.get("default/missing"),
        storage.delete("default/a", preconditions=Preconditions(uid="another")),
    ):
        with pytest.raises((KeyExists, KeyNotFound, PreconditionFailed)) as refusal:
            await refused
        story.append(str(refusal.value))
    story.append((await storage.guaranteed_update("default/a", unchanged)).revision - first.revision)
    await set_spec(storage, second, color="red")
    await set_labels(storage, first, tier="back")
    await set_spec(storage, first, color="blue")
    story.append(await keys(storage, "default/", predicate=labelled(tier="back")))
    story.append(await keys(storage, predicate=with_field("spec.color", "red")))
    page = await storage.get_list("", ListOptions(limit=2))
    story.append(([item.key for item in page.items], page.remaining, page.revision - first.revision))
    deleted = await storage.delete("default/a")
    rest = await storage.get_list("", ListOptions(limit=2, continue_token=page.continue_token))
    story.append(([item.key for item in rest.items], rest.revision - first.revision))
    story.append((deleted.decode()["spec"], await keys(storage)))
    await create(storage, "end", color="red")
    story.append([told(event, first.revision) for event in await watcher.take(7)])
    story.append([told(event, first.revision) for event in await red.take(4)])
    return story


def told(event: WatchEvent, since: int) -> tuple[str, int, str, object, object]:
    assert event.object is not None
    obj = event.object.decode()
    return event.type.name, event.revision - since, event.object.key, obj["spec"], obj["metadata"].get("labels")


class TestReplicas:
    async def test_a_write_through_one_is_seen_by_the_next_consistent_read_of_another(self, member: Member) -> None:
        async with opened(on(member)) as one, opened(on(member)) as another:
            await asyncio.gather(one.wait_until_ready(), another.wait_until_ready())

            async def write_and_read(name: str, writer: Cacher, reader: Cacher) -> None:
                written = await create(writer, name, step=0)
                for step in range(1, 20):
                    assert (await reader.get(written.key)).revision == written.revision
                    written = await set_spec(writer, written, step=step)
                    seen = await reader.get_list("default/", ListOptions())
                    assert written.json in [item.json for item in seen.items]
                await writer.delete(written.key)
                assert written.key not in await keys(reader)

            await in_time(
                asyncio.gather(
                    *(write_and_read(f"a{number}", one, another) for number in range(4)),
                    *(write_and_read(f"b{number}", another, one) for number in range(4)),
                )
            )

    async def test_an_update_through_one_is_not_lost_to_another_whose_cache_is_behind(self, member: Member) -> None:
        async with opened(on(member)) as one, opened(on(member)) as another:
            await asyncio.gather(one.wait_until_ready(), another.wait_until_ready())
            created = await create(one, "a")

            async def set_fields(storage: Cacher, name: str) -> None:
                for number in range(20):
                    await set_spec(storage, created, **{f"{name}{number}": number})

            await in_time(asyncio.gather(set_fields(one, "x"), set_fields(another, "y")))

            spec = (await one.get("default/a")).decode()["spec"]
            assert spec == {f"{name}{number}": number for name in "xy" for number in range(20)}


class TestOutage:
    async def test_watchers_of_all_replicas_see_every_event_once(self, member: Member) -> None:
        async with opened(on(member)) as one, opened(on(member)) as another:
            first = await create(one, "first")
            watchers = [await Watcher.on(each, resource_version=first.revision) for each in (one, another, one)]
            writing = asyncio.ensure_future(write_for_a_while(one))
            await watchers[1].take(20)

            await asyncio.to_thread(member.crash)
            await asyncio.to_thread(member.start)
            await in_time(writing)
            last = await create(another, "last")

            truth = [heard(event) for event in await history_of(member, first.revision + 1, last.revision)]
            for watcher in watchers:
                await watcher.take_until(last.revision)
                assert [(event.revision, *key_and_type(event)) for event in watcher.events] == truth
                assert not watcher.ends
            assert {statistics_of(each)["lists"] for each in (one, another)} == {1}


async def write_for_a_while(storage: Storage) -> None:
    """Create, change and delete as far as it succeeds; the history tells whether a failed write had an effect."""
    for number in range(150):
        try:
            created = await create(storage, f"w{number % 50}", number=number)
            await set_spec(storage, created, color="blue")
            await storage.delete(created.key)
        except (DeadlineExceeded, Unavailable, KeyExists, KeyNotFound):
            continue


async def history_of(member: Member, first: int, last: int) -> list[Event]:
    """The history of widgets, as etcd has it."""
    kv = EtcdKV(EtcdConfig(endpoints=[member.endpoint]))
    try:
        return await kv_steps.collect(kv, PREFIX, revision=first, until=last)
    finally:
        await kv.close()


def heard(event: Event) -> tuple[int, str, str]:
    """The event of a change for a watcher of everything."""
    kind = "ADDED" if event.is_create else {"PUT": "MODIFIED", "DELETE": "DELETED"}[event.type.value]
    return event.record.mod_revision, kind, event.record.key.removeprefix(PREFIX).decode()


def key_and_type(event: WatchEvent) -> tuple[str, str]:
    assert event.object is not None
    return event.type.name, event.object.key


def statistics_of(cacher: Cacher) -> dict[str, int]:
    found: dict[str, int] = cacher.statistics()["reflector"]
    return found


class TestEncryption:
    async def test_nothing_of_an_encrypted_object_is_on_the_disk(self, tmp_path: Path) -> None:
        config = encrypted(tmp_path, files.keyed("secretbox", "key1"))
        async with opened(config) as storage:
            watcher = await Watcher.on(storage, resource_version=0)
            created = await create(storage, "a", color="crimson")
            await set_spec(storage, created, shade="crimson")
            seen = await watcher.take(2)
            on_disk = b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir())

        assert [event.object.decode()["spec"] for event in seen if event.object] == [
            {"color": "crimson"},
            {"color": "crimson", "shade": "crimson"},
        ]
        assert b"widgets/default/a" in on_disk
        assert b"k8s:enc:secretbox:v1:key1:" in on_disk
        assert b"crimson" not in on_disk

    async def test_objects_move_to_a_new_key_though_the_cache_has_them_already(self, tmp_path: Path) -> None:
        clock = ManualClock()
        async with opened(encrypted(tmp_path, files.keyed("aesgcm", "key1")), clock) as storage:
            created = await create(storage, "a", color="crimson")
            watcher = await Watcher.on(storage, resource_version=created.revision)
            write_configuration(tmp_path, files.keyed("aesgcm", "key2", "key1"))

            moved = created
            async with asyncio.timeout(20):
                while moved.revision == created.revision:
                    clock.advance(POLL_SECONDS)
                    moved = await storage.guaranteed_update("default/a", unchanged)
            await watcher.take(1)

        async with opened(encrypted(tmp_path, files.keyed("aesgcm", "key2"))) as storage:
            assert (await storage.get("default/a")).json == moved.json


def encrypted(folder: Path, provider: files.Provider) -> StorageConfig:
    return StorageConfig(
        data_dir=folder / "data",
        encryption_config=write_configuration(folder, provider),
        reloads_encryption_config=True,
    )


def write_configuration(folder: Path, provider: files.Provider) -> Path:
    path = folder / "encryption.yaml"
    path.write_bytes(files.configuration(files.rule(["widgets.example.com"], provider)))
    return path
