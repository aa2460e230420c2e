"""Hand-offs: clients that list and then watch from there, again and again, while others write.

A client keeps a copy of its list, applies the events as informers do, and checks that each event fits. When the writers
of a wave are done, a last write that every client sees marks the end. Then every copy must be equal to a final list.
Knows the Storage contract only: it can run against any storage on any engine.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.errors import KeyExists, KeyNotFound, RevisionExpired
from aio_apiserver.storage.interface import (
    ListOptions,
    ResourceVersionMatch,
    Storage,
    TryUpdate,
    Update,
    WatchEvent,
    WatchEventType,
)
from aio_apiserver.storage.selection import EVERYTHING, SelectionPredicate
from aio_apiserver.storage.stored_object import StoredObject
from tests.storage.steps import Watcher, labelled, setting, widget, with_field

NAMES = tuple("abcdefgh")
NAMESPACES = ("default", "other")
END = "end"
"""The name of one object in each namespace, whose last write every client sees."""

VIEWS: Sequence[tuple[str, SelectionPredicate, Callable[[Object], bool]]] = (
    ("", EVERYTHING, lambda _obj: True),
    ("default/", EVERYTHING, lambda obj: obj["metadata"]["namespace"] == "default"),
    ("", labelled(app="web"), lambda obj: obj["metadata"]["labels"]["app"] == "web"),
    ("other/", with_field("spec.color", "red"), lambda obj: obj["spec"]["color"] == "red"),
)


@dataclass(slots=True)
class HandOffs:
    """Counts of the finished work."""

    rounds: int = 0
    events: int = 0
    writes: int = 0
    begun_again: int = 0
    lists: Counter[str] = field(default_factory=Counter)


async def hand_over(
    readers: Sequence[Storage],
    writers: Sequence[Storage],
    *,
    rounds: int,
    clients: int = 20,
    writes: int = 40,
    seed: int = 0,
) -> HandOffs:
    """So many hand-offs, in waves of so many clients, with so many writes by each writer in each wave.

    readers are what clients list and watch, in turns; writers may be the same storages or others on the same store.
    """
    chance = random.Random(seed)
    done = HandOffs()
    for namespace in NAMESPACES:
        await writers[0].create(f"{namespace}/{END}", _object(namespace, END, "web", "red", step=0))
    wave = 0
    while done.rounds < rounds:
        wave += 1
        await _wave(
            readers,
            writers,
            wave=wave,
            clients=min(clients, rounds - done.rounds),
            writes=writes,
            chance=chance,
            done=done,
        )
    return done


async def _wave(
    readers: Sequence[Storage],
    writers: Sequence[Storage],
    *,
    wave: int,
    clients: int,
    writes: int,
    chance: random.Random,
    done: HandOffs,
) -> None:
    running = [
        Client(readers[number % len(readers)], VIEWS[number % len(VIEWS)], wave, chance, done)
        for number in range(clients)
    ]
    async with asyncio.TaskGroup() as group:
        for client in running:
            group.create_task(client.run())
        async with asyncio.TaskGroup() as writing:
            for storage in writers:
                writing.create_task(_write(storage, writes, chance, done))
        for namespace in NAMESPACES:
            await writers[0].guaranteed_update(f"{namespace}/{END}", setting(step=wave))
    for client in running:
        await client.compare()


async def _write(storage: Storage, writes: int, chance: random.Random, done: HandOffs) -> None:
    for number in range(writes):
        namespace, name = chance.choice(NAMESPACES), chance.choice(NAMES)
        app, color = chance.choice(["web", "db"]), chance.choice(["red", "blue"])
        obj = _object(namespace, name, app, color, step=number)
        key = f"{namespace}/{name}"
        try:
            if chance.random() < 0.3:
                await storage.delete(key)
            elif chance.random() < 0.3:
                await storage.create(key, obj)
            else:
                await storage.guaranteed_update(key, _putting(obj), ignore_not_found=True)
            done.writes += 1
        except (KeyExists, KeyNotFound):
            pass
        await _some_turns(chance)


def _object(namespace: str, name: str, app: str, color: str, **spec: Any) -> Object:
    return widget(name, namespace=namespace, labels={"app": app}, color=color, **spec)


def _putting(obj: Object) -> TryUpdate:
    async def try_update(_current: StoredObject | None) -> Update:
        return Update(obj)

    return try_update


async def _some_turns(chance: random.Random) -> None:
    for _ in range(chance.choice([0, 0, 1, 2, 5])):
        await asyncio.sleep(0)


class _Reader(Watcher):
    """A watcher that takes all events as they come."""

    async def more(self) -> list[WatchEvent]:
        """The events that have come and were not taken yet; none when the watch has ended."""
        await self._wait_until(lambda: self.backlog > 0 or bool(self.ends))
        return await self.take(self.backlog)


class Client:
    """One client of one wave."""

    def __init__(
        self,
        storage: Storage,
        view: tuple[str, SelectionPredicate, Callable[[Object], bool]],
        wave: int,
        chance: random.Random,
        done: HandOffs,
    ) -> None:
        self._storage = storage
        self._key, self._predicate, self._selects = view
        self._wave = wave
        self._chance = chance
        self._done = done
        self._copy: dict[str, bytes] = {}
        self._revision = 0

    async def run(self) -> None:
        """Start at any time in the wave; begin again when the watch ends, until the end of the wave has been seen."""
        for _ in range(self._chance.randrange(60)):
            await asyncio.sleep(0)
        while not await self._list_and_watch():
            self._done.begun_again += 1

    async def compare(self) -> None:
        """Check the copy against the store."""
        listed = await self._storage.get_list(self._key, ListOptions(predicate=self._predicate))
        assert dict(sorted(self._copy.items())) == {item.key: item.json for item in listed.items}

    async def _list_and_watch(self) -> bool:
        """One hand-off; whether the watch has come to the end of the wave."""
        self._done.rounds += 1
        try:
            await self._list()
            await _some_turns(self._chance)
            reader = await _Reader.on(
                self._storage,
                self._key,
                predicate=self._predicate,
                resource_version=self._revision,
                allow_bookmarks=True,
            )
        except RevisionExpired:
            return False
        return await self._follow(reader)

    async def _list(self) -> None:
        """Begin with a list of some kind; the copy is of its revision."""
        kind = self._chance.choice(["newest", "any", "paged", "not older"])
        self._done.lists[kind] += 1
        options = {
            "newest": ListOptions(predicate=self._predicate),
            "any": ListOptions(predicate=self._predicate, resource_version=0),
            "paged": ListOptions(predicate=self._predicate, limit=self._chance.randint(1, 5)),
            "not older": ListOptions(
                predicate=self._predicate,
                resource_version=max(self._revision, 1),
                match=ResourceVersionMatch.NOT_OLDER_THAN,
            ),
        }[kind]
        page = await self._storage.get_list(self._key, options)
        self._revision = page.revision
        self._copy = {item.key: item.json for item in page.items}
        while page.continue_token:
            await _some_turns(self._chance)
            more = ListOptions(predicate=self._predicate, limit=options.limit, continue_token=page.continue_token)
            page = await self._storage.get_list(self._key, more)
            self._copy.update((item.key, item.json) for item in page.items)

    async def _follow(self, reader: _Reader) -> bool:
        while not self._has_ended():
            events = await reader.more()
            if not events:
                return False
            for event in events:
                self._apply(event)
        reader.stop()
        return True

    def _has_ended(self) -> bool:
        """Whether the copy shows the last write of the wave, in every namespace that it covers."""
        marks = [json for key, json in self._copy.items() if key.endswith(f"/{END}")]
        expected = 1 if self._key else len(NAMESPACES)
        return len(marks) == expected and all(b'"step":%d' % self._wave in json for json in marks)

    def _apply(self, event: WatchEvent) -> None:
        """Take one event, which must fit what is known."""
        assert event.revision >= self._revision
        self._revision = event.revision
        if event.object is None:
            return
        self._done.events += 1
        key = event.object.key
        assert (key in self._copy) is (event.type is not WatchEventType.ADDED), (event.type, key)
        assert self._selects(event.object.decode())
        if event.type is WatchEventType.DELETED:
            del self._copy[key]
        else:
            self._copy[key] = event.object.json
