"""The Cacher against a model: random programs of writes, watches, reads and faults.

In every program, each watcher sees every change of its view once, in order, with the right previous state, until its
watch ends. A watch ends only for a reason. Lists show their revision, which is never older than the writes before.
"""

import asyncio
import contextlib
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.errors import Compacted, KeyExists, KeyNotFound, RevisionExpired, Unavailable
from aio_apiserver.storage.interface import ListOptions, Storage, TryUpdate, Update
from aio_apiserver.storage.kv.memory import MemoryKV
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.stored_object import StoredObject
from tests.storage.cacher.cachers import cacher_on
from tests.storage.cacher.troubled import Troubled
from tests.storage.cacher.truth import SELECTIONS, Truth, View, agrees, lists_as_it_was, truth_of
from tests.storage.steps import Watcher, setting, widget
from tests.storage.stores import store_on

T = TypeVar("T")

KEYS = ("default/a", "default/ab", "default/b", "other/a", "other/c")
SCOPES = ("", "", "default/", "other/", "default/a")


@dataclass(frozen=True, slots=True)
class Write:
    verb: str
    key: str
    app: str
    color: str
    by_another_server: bool


@dataclass(frozen=True, slots=True)
class StartWatch:
    """`back` counts revisions from the newest (negative: into the future); None begins with a state."""

    scope: str
    selection: int
    back: int | None
    any_state: bool
    send_initial_events: bool
    allow_bookmarks: bool
    is_slow: bool


@dataclass(frozen=True, slots=True)
class List:
    scope: str
    selection: int
    limit: int
    resource_version: int | None


@dataclass(frozen=True, slots=True)
class Do:
    """A step without arguments, but perhaps with a number."""

    what: str
    number: int


WRITES = st.builds(
    Write,
    st.sampled_from(["put", "put", "put", "create", "create_for_a_while", "recolor", "delete"]),
    st.sampled_from(KEYS),
    st.sampled_from(["web", "db"]),
    st.sampled_from(["red", "blue"]),
    st.booleans(),
)
WATCHES = st.builds(
    StartWatch,
    st.sampled_from(SCOPES),
    st.integers(0, len(SELECTIONS) - 1),
    st.none() | st.integers(-2, 6),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.integers(0, 4).map(lambda number: number == 0),
)
LISTS = st.builds(
    List,
    st.sampled_from(SCOPES[:4]),
    st.integers(0, len(SELECTIONS) - 1),
    st.integers(0, 2),
    st.sampled_from([None, None, 0]),
)
TURNS = st.builds(Do, st.just("turns"), st.integers(0, 6))
TROUBLE = st.builds(
    Do,
    st.sampled_from(
        ["stop", "drain", "drain", "cut", "compact", "lose_history", "hold", "elapse", "write_other", "progress"]
    ),
    st.integers(0, 5),
)
PROGRAMS = st.lists(st.one_of(WRITES, WRITES, WRITES, WATCHES, TURNS, TURNS, LISTS, TROUBLE), min_size=30, max_size=100)


@dataclass(slots=True)
class Watching:
    """A watch, and the events expected of it. `relists`: the number of relists when it began."""

    view: View
    watcher: Watcher
    start: int | None
    wanted: int
    relists: int
    may_end: bool


@dataclass(slots=True)
class Run:
    """One running program."""

    kv: MemoryKV
    store: KVStore
    origin: Troubled
    cacher: Cacher
    clock: ManualClock
    truth: Truth
    watches: list[Watching] = field(default_factory=list)
    has_compacted: bool = False
    held_steps: int = 0

    async def do(self, step: Write | StartWatch | List | Do) -> None:
        self.held_steps -= 1
        if not self.held_steps:
            self.origin.release_events()
        if isinstance(step, Write):
            await self.write(step)
        elif isinstance(step, StartWatch):
            await self.start_watch(step)
        elif isinstance(step, List):
            await self.list(step)
        else:
            await getattr(self, step.what)(step.number)

    async def write(self, step: Write) -> None:
        storage: Storage = self.store if step.by_another_server else self.cacher
        namespace, name = step.key.split("/")
        with contextlib.suppress(KeyExists, KeyNotFound):
            if step.verb.startswith("create"):
                obj = widget(name, namespace=namespace, labels={"app": step.app}, color=step.color)
                await storage.create(step.key, obj, ttl=2 if step.verb == "create_for_a_while" else 0)
            elif step.verb == "delete":
                await storage.delete(step.key)
            elif step.verb == "recolor":
                await storage.guaranteed_update(step.key, setting(color=step.color))
            else:
                await storage.guaranteed_update(step.key, putting(step), ignore_not_found=True)

    async def start_watch(self, step: StartWatch) -> None:
        view = View(step.scope, list(SELECTIONS)[step.selection])
        relists = self.relists
        version = 0 if step.any_state else None
        if step.back is not None:
            version = max(await self.kv.current_revision() - step.back, 1)
        starting = Watcher.on(
            self.cacher,
            step.scope,
            limit=2 if step.is_slow else 10**9,
            recursive=not step.scope or step.scope.endswith("/"),
            predicate=view.predicate,
            resource_version=version,
            allow_bookmarks=step.allow_bookmarks,
            send_initial_events=step.send_initial_events,
        )
        try:
            watcher = await self.patiently(starting)
        except RevisionExpired:
            assert step.back is not None
            return
        start = None if step.send_initial_events or not version else version
        self.watches.append(Watching(view, watcher, start, version or 0, relists, may_end=step.is_slow))

    async def list(self, step: List) -> None:
        view = View(step.scope, list(SELECTIONS)[step.selection])
        newest = await self.kv.current_revision()
        options = ListOptions(predicate=view.predicate, limit=step.limit, resource_version=step.resource_version)
        page = await self.patiently(self.cacher.get_list(step.scope, options))
        revision, items = page.revision, [*page.items]
        assert step.resource_version == 0 or revision >= newest
        try:
            while page.continue_token:
                more = ListOptions(predicate=view.predicate, limit=step.limit, continue_token=page.continue_token)
                page = await self.cacher.get_list(step.scope, more)
                items += page.items
                assert page.revision == revision
        except RevisionExpired:
            assert self.has_compacted
            return
        await self.turns(10)
        assert lists_as_it_was(self.truth, view, items, revision)

    async def turns(self, number: int) -> None:
        """Let other tasks run, and a little time pass."""
        for _ in range(number):
            await asyncio.sleep(0)
            self.clock.advance(0.01)

    async def stop(self, number: int) -> None:
        if self.watches:
            watching = self.watches[number % len(self.watches)]
            watching.may_end = True
            watching.watcher.stop()

    async def drain(self, number: int) -> None:
        if self.watches:
            watcher = self.watches[number % len(self.watches)].watcher
            await watcher.take(watcher.backlog)

    async def cut(self, number: int) -> None:
        """The cache loses its watch, with the events on their way."""
        await self.origin.break_watches(None if number % 2 else Unavailable("connection lost"))

    async def compact(self, _number: int) -> None:
        await self.turns(10)  # the truth has to know all before
        self.has_compacted = True
        with contextlib.suppress(Compacted):
            await self.kv.compact(await self.kv.current_revision())

    async def lose_history(self, number: int) -> None:
        """While the cache is cut off, events happen and are compacted."""
        await self.cut(number)
        await self.write(Write("put", KEYS[number % len(KEYS)], "web", "red", by_another_server=True))
        await self.write_other(0)
        await self.compact(0)

    async def hold(self, number: int) -> None:
        """For some steps, the store's events stay on their way to the cache."""
        self.held_steps = number + 1
        self.origin.hold_events()

    async def elapse(self, number: int) -> None:
        self.clock.advance(5**number / 50)

    async def write_other(self, _number: int) -> None:
        """A write to another resource moves the store's revision."""
        known = (await self.kv.get(b"/other")).record
        await self.kv.put(b"/other", b"", expected_mod_revision=known.mod_revision if known is not None else 0)

    async def progress(self, _number: int) -> None:
        await self.kv.request_progress()

    async def patiently(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of a call that may have to wait for the clock."""
        task = asyncio.ensure_future(work)
        while not task.done():
            await self.turns(10)
            if not task.done():
                self.clock.advance(0.1)
        return task.result()

    async def finish(self) -> None:
        """Let all pending work finish, and a little more time pass."""
        self.origin.release_events()
        await self.patiently(self.cacher.get_list("", ListOptions()))
        for _ in range(30):
            await self.turns(10)
            self.clock.advance(0.3)
            for watching in self.watches:
                await watching.watcher.take(watching.watcher.backlog)

    async def check(self) -> None:
        newest = await self.kv.current_revision()
        assert self.has_compacted or not self.relists
        for watching in self.watches:
            has_ended = bool(watching.watcher.ends)
            assert not has_ended or watching.may_end or self.relists > watching.relists
            is_whole = not has_ended and watching.wanted <= newest
            assert agrees(
                self.truth, watching.view, watching.watcher.events, start=watching.start, is_whole=is_whole
            ), (watching, self.truth.changes)
            assert watching.watcher.delivered_after_end == 0

    @property
    def relists(self) -> int:
        relists: int = self.cacher.statistics()["reflector"]["relists"]
        return relists


def putting(step: Write) -> TryUpdate:
    namespace, name = step.key.split("/")

    async def try_update(_current: StoredObject | None) -> Update:
        return Update(widget(name, namespace=namespace, labels={"app": step.app}, color=step.color))

    return try_update


async def run(program: Sequence[Write | StartWatch | List | Do]) -> None:
    clock = ManualClock()
    kv = MemoryKV(clock=clock)
    store = store_on(kv, clock=clock)
    origin = Troubled(store)
    async with truth_of(kv) as truth, cacher_on(origin, clock) as cacher:
        running = Run(kv, store, origin, cacher, clock, truth)
        for step in program:
            await running.do(step)
        await running.finish()
        await running.check()
    await kv.close()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(PROGRAMS)
def test_watchers_and_lists_see_what_happened(program: list[Write | StartWatch | List | Do]) -> None:
    asyncio.run(run(program))
