"""A cache, a fan-out and a feeder without a store, for tests of how events reach sinks."""

from typing import Any

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.cacher import scope as scopes
from aio_apiserver.storage.cacher.cache_watcher import CacheWatcher
from aio_apiserver.storage.cacher.catching_up import Feeder
from aio_apiserver.storage.cacher.fanout import Fanout
from aio_apiserver.storage.cacher.watch_cache import WatchCache
from aio_apiserver.storage.cacher.window_memory import WindowMemory
from aio_apiserver.storage.interface import WatchBatch, WatchEvent, WatchOptions
from tests.storage.cacher.objects import put, stored
from tests.storage.steps import WIDGETS, Watcher


class Sink(Watcher):
    """A watcher that also keeps the batches as they came."""

    def __init__(self, *, limit: int = 10_000) -> None:
        super().__init__(limit=limit)
        self.batches: list[WatchBatch] = []

    def deliver(self, batch: WatchBatch) -> None:
        self.batches.append(batch)
        super().deliver(batch)

    @property
    def keys(self) -> list[str]:
        return [event.object.key for event in self.events if event.object is not None]

    @property
    def revisions(self) -> list[int]:
        return [event.revision for event in self.events]


class Parts:
    """The parts of a Cacher between its reflector and its watchers. The list is at revision 10."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.tasks = Tasks()
        self.fanout = Fanout(
            WIDGETS.triggers, self.clock, self.tasks, on_slow=lambda watcher: self.feeder.slow_down(watcher)
        )
        self.cache = WatchCache(self.clock, self.fanout, WindowMemory(self.clock), triggers=WIDGETS.triggers)
        self.feeder = Feeder(self.cache, self.fanout, self.clock, self.tasks)
        self.cache.replace([], 10)

    def watch(self, sink: Sink, key: str = "", *, revision: int | None = None, **options: Any) -> CacheWatcher:
        """Start a watch after a revision; by default after the newest one."""
        wanted = WatchOptions(resource_version=self.cache.revision if revision is None else revision, **options)
        scope = scopes.narrowed(key, wanted.predicate, recursive=wanted.recursive, namespaced=True)
        watcher = CacheWatcher(sink, lambda ended: self.fanout.end(ended, None), scope=scope, options=wanted)
        self.feeder.start(watcher)
        return watcher

    def write(self, *events: WatchEvent) -> None:
        """Each event in a batch of its own, as the store brings them."""
        for event in events:
            self.cache.apply([event])

    def write_keys(self, first_revision: int, *keys: str, **spec: Any) -> None:
        """A write of each key, each with its own revision."""
        for number, key in enumerate(keys):
            self.write(put(stored(key, first_revision + number, **spec)))

    async def close(self) -> None:
        self.fanout.end_all(None)
        await self.tasks.close()
