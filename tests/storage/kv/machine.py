"""Machine: random programs of writes, races, leases, compactions, reads and watches, on an engine and on the model.

The engine answers as the model does. Each watcher sees every event of its range once, in order, with the right previous
record, until it is closed or learns of a compaction.
"""

import asyncio
import itertools
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, cast

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from aio_apiserver.base.clock import ManualClock
from aio_apiserver.storage.errors import Compacted, FutureRevision, LeaseNotFound
from aio_apiserver.storage.kv.interface import KV, EventBatch, WriteResult, prefix_end
from aio_apiserver.storage.record import Record
from tests.storage.kv.checked_watch import CheckedWatch
from tests.storage.kv.model import Model
from tests.storage.kv.steps import create, next_events

T = TypeVar("T")

NAMES = st.sampled_from([b"a", b"a\x00", b"b", b"b/\xff", b"c", b"d"])
VALUES = st.sampled_from([b"", b"one", b"two", b"\x00\xff"])
BOUNDS = st.sampled_from([b"", b"a", b"a\x00", b"b", b"b0", b"d", b"e"])
COMPACT = -1
BACK = st.integers(0, 3) | st.integers(0, 30) | st.just(COMPACT)
"""A revision so many steps ago, modulo the history; or the compact revision, where the edge cases are."""
INDEX = st.integers(0, 9)
PREFIXES = itertools.count()
MAX_WATCHES = 8


@dataclass(frozen=True, slots=True)
class Store:
    """An engine under test, with its event loop. Without a clock, its leases do not expire."""

    kv: KV
    runner: asyncio.Runner
    clock: ManualClock | None = None
    keeps_deletion_at_compaction: bool = True


class Machine(RuleBasedStateMachine):
    """One program on its own prefix of the store."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store
        self.kv = store.kv
        self.prefix = b"/model/%d/" % next(PREFIXES)
        self.model = Model(self.run(create(self.kv, self.prefix[:-1])).mod_revision)
        self.watchers: list[CheckedWatch] = []
        self.leases: dict[int, float] = {}

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.store.runner.run(work)

    def revision_back(self, back: int) -> int:
        if back == COMPACT and self.model.compact_revision:
            return self.model.compact_revision
        revisions = self.model.revisions
        return revisions[-1 - back % len(revisions)]

    # Writes

    @rule(name=NAMES, value=VALUES, lease=st.none() | INDEX)
    def put(self, name: bytes, value: bytes, lease: int | None) -> None:
        key = self.prefix + name
        current = self.model.state().get(key)
        lease_id = list(self.leases)[lease % len(self.leases)] if lease is not None and self.leases else 0

        result = self.run(self.kv.put(key, value, expected_mod_revision=_revision_of(current), lease=lease_id))

        assert (result.succeeded, result.record) == (True, None)
        written = self.model.put(key, value, lease=lease_id, revision=result.revision)
        assert self.run(self.kv.get(key)).record == written

    @rule(name=NAMES)
    def delete(self, name: bytes) -> None:
        key = self.prefix + name
        current = self.model.state().get(key)

        result = self.run(self.kv.delete(key, expected_mod_revision=_revision_of(current) or self.model.base))

        assert (result.succeeded, result.record) == (current is not None, None)
        if current is not None:
            self.model.delete([key], revision=result.revision)

    @rule(name=NAMES, back=BACK, is_put=st.booleans())
    def lose(self, name: bytes, back: int, is_put: bool) -> None:
        key = self.prefix + name
        current = self.model.state().get(key)
        wrong = self.revision_back(back)
        if wrong == _revision_of(current):
            wrong = self.model.base

        if is_put:
            result = self.run(self.kv.put(key, b"lost", expected_mod_revision=wrong))
        else:
            result = self.run(self.kv.delete(key, expected_mod_revision=wrong))

        assert (result.succeeded, result.record) == (False, current)

    @rule(names=st.lists(NAMES, min_size=2, max_size=6))
    def race(self, names: list[bytes]) -> None:
        keys = [self.prefix + name for name in names]
        state = self.model.state()

        async def put_all() -> list[WriteResult]:
            return await asyncio.gather(
                *[
                    self.kv.put(key, b"%d" % number, expected_mod_revision=_revision_of(state.get(key)))
                    for number, key in enumerate(keys)
                ]
            )

        results = self.run(put_all())
        winners = [
            (result.revision, key, number)
            for number, (key, result) in enumerate(zip(keys, results, strict=True))
            if result.succeeded
        ]
        for revision, key, number in sorted(winners):
            self.model.put(key, b"%d" % number, lease=0, revision=revision)
        assert sorted(key for _, key, _ in winners) == sorted(set(keys))
        left = [self.model.state()[key] for key in keys]
        assert [result.record for result in results] == [
            None if result.succeeded else record for result, record in zip(results, left, strict=True)
        ]

    # Leases

    @rule(ttl=st.integers(1000, 1003))
    def grant(self, ttl: int) -> None:
        lease = self.run(self.kv.grant_lease(ttl))

        assert lease not in self.leases
        self.leases[lease] = (self.store.clock.monotonic() if self.store.clock else 0) + ttl

    @precondition(lambda self: self.leases)
    @rule(index=INDEX)
    def revoke(self, index: int) -> None:
        lease = list(self.leases)[index % len(self.leases)]
        keys = self.model.keys_of_lease(lease)
        del self.leases[lease]

        self.run(self.kv.revoke_lease(lease))

        if keys:
            self.model.delete(keys, revision=self.run(self.kv.current_revision()))
        with pytest.raises(LeaseNotFound):
            self.run(self.kv.revoke_lease(lease))

    @precondition(lambda self: self.leases and self.store.clock)
    @rule(seconds=st.integers(999, 1002))
    def elapse(self, seconds: int) -> None:
        assert self.store.clock is not None
        deadline = self.store.clock.monotonic() + seconds
        ending = [lease for lease, end in self.leases.items() if end <= deadline]
        gone = {lease: keys for lease in ending if (keys := self.model.keys_of_lease(lease))}
        for lease in ending:
            del self.leases[lease]

        for batch in self.run(self._advance(seconds, len(gone))):
            keys = [event.record.key for event in batch.events]
            assert keys in gone.values()
            self.model.delete(keys, revision=batch.revision)

    async def _advance(self, seconds: int, deletions: int) -> list[EventBatch]:
        assert self.store.clock is not None
        start = self.model.revision + 1
        async with self.kv.watch(self.prefix, prefix_end(self.prefix), revision=start) as batches:
            self.store.clock.advance(seconds)
            return [await next_events(batches) for _ in range(deletions)]

    # Compaction

    @rule(back=BACK)
    def compact(self, back: int) -> None:
        revision = self.revision_back(back)
        if self.model.is_deletion(revision) and not self.store.keeps_deletion_at_compaction:
            return
        if revision <= self.model.compact_revision:
            with pytest.raises(Compacted):
                self.run(self.kv.compact(revision))
        else:
            self.run(self.kv.compact(revision))
            self.model.compact_revision = revision

    # Reads

    @rule(name=NAMES)
    def get(self, name: bytes) -> None:
        result = self.run(self.kv.get(self.prefix + name))

        assert result.record == self.model.state().get(self.prefix + name)
        assert result.revision >= self.model.revision

    @rule(name=NAMES, back=BACK)
    def get_then(self, name: bytes, back: int) -> None:
        revision = self.revision_back(back)
        if revision < self.model.compact_revision:
            with pytest.raises(Compacted):
                self.run(self.kv.get(self.prefix + name, revision=revision))
            return

        result = self.run(self.kv.get(self.prefix + name, revision=revision))

        assert result.record == self.model.state(revision).get(self.prefix + name)

    @rule(
        bounds=st.tuples(BOUNDS, BOUNDS),
        back=st.none() | BACK,
        limit=st.integers(0, 5),
        keys_only=st.booleans(),
        count_only=st.booleans(),
    )
    def range(
        self, bounds: tuple[bytes, bytes], back: int | None, limit: int, keys_only: bool, count_only: bool
    ) -> None:
        start, end = self.prefix + bounds[0], self.prefix + bounds[1]
        revision = 0 if back is None else self.revision_back(back)
        work = self.kv.range(start, end, revision=revision, limit=limit, keys_only=keys_only, count_only=count_only)
        if 0 < revision < self.model.compact_revision:
            with pytest.raises(Compacted):
                self.run(work)
            return

        result = self.run(work)

        expected = self.model.range(start, end, revision or None)
        assert result.count == len(expected)
        if count_only:
            assert not result.records
            return
        shown = expected[: limit or None]
        assert list(result.records) == (list(map(_without_value, shown)) if keys_only else shown)
        assert result.more == (len(shown) < len(expected))

    @rule()
    def get_future(self) -> None:
        with pytest.raises(FutureRevision):
            self.run(self.kv.get(self.prefix, revision=self.model.revision + 1_000_000))

    # Watches

    @precondition(lambda self: len(self.watchers) < MAX_WATCHES)
    @rule(bounds=st.tuples(BOUNDS, BOUNDS).filter(lambda bounds: bounds[0] < bounds[1]), back=BACK)
    def watch_from_the_past(self, bounds: tuple[bytes, bytes], back: int) -> None:
        self._open(bounds, self.revision_back(back))

    @precondition(lambda self: len(self.watchers) < MAX_WATCHES)
    @rule(bounds=st.tuples(BOUNDS, BOUNDS).filter(lambda bounds: bounds[0] < bounds[1]), ahead=st.integers(1, 5))
    def watch_from_the_future(self, bounds: tuple[bytes, bytes], ahead: int) -> None:
        self._open(bounds, self.model.revision + ahead)

    @precondition(lambda self: self.watchers)
    @rule(index=INDEX, count=st.integers(1, 10))
    def read_watch(self, index: int, count: int) -> None:
        watcher = self.watchers[index % len(self.watchers)]

        self.run(watcher.read(count))

    @precondition(lambda self: self.watchers)
    @rule(index=INDEX)
    def leave_watch(self, index: int) -> None:
        self._leave(self.watchers.pop(index % len(self.watchers)))

    @rule()
    def request_progress(self) -> None:
        self.run(self.kv.request_progress())

    def teardown(self) -> None:
        try:
            for watcher in self.watchers:
                self.put(watcher.start.removeprefix(self.prefix), b"the last one", None)
            for watcher in self.watchers:
                self.run(watcher.read(len(self.model.events)))
                assert watcher.is_over or not watcher.missing
        finally:
            for watcher in self.watchers:
                self._leave(watcher)

    def _open(self, bounds: tuple[bytes, bytes], revision: int) -> None:
        start, end = self.prefix + bounds[0], self.prefix + bounds[1]
        context = self.kv.watch(start, end, revision=revision)
        self.watchers.append(
            CheckedWatch(
                self.model,
                start,
                end,
                revision,
                context,
                self.run(context.__aenter__()),
                is_reliable=self.kv.has_reliable_progress,
                must_fail=revision < self.model.compact_revision,
            )
        )

    def _leave(self, watcher: CheckedWatch) -> None:
        self.run(_leave(watcher.context))


async def _leave(context: AbstractAsyncContextManager[Any]) -> None:
    await context.__aexit__(None, None, None)


def _revision_of(record: Record | None) -> int:
    return record.mod_revision if record else 0


def _without_value(record: Record) -> Record:
    return Record(record.key, b"", record.create_revision, record.mod_revision, record.version, record.lease)


def run_programs(store: Store, *, programs: int, steps: int) -> None:
    """Run random programs, the same ones each time."""
    run_state_machine_as_test(
        cast("type[Machine]", partial(Machine, store)),  # any factory will do
        settings=settings(
            derandomize=True,
            max_examples=programs,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
