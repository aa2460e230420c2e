"""Fanout: hands the changes of a resource to the sinks of all watchers that see them.

Changes that come within one turn of the event loop go out together. Each change is matched once for each group. Each
group gets one WatchBatch, and its members share the batch and its encoded bytes. So do groups that see the same events
in one turn. A long queue goes out in several turns. After a turn whose deliveries take long, the fan-out pauses for as
long or longer, if a change is expected meanwhile at the present rate. Changes of the pause go out together. At a lower
rate, each change goes out at once.

Worked example: changes 7..900 arrive, `position` is 6. The first turn sends 7..518 and moves `position` to 518; the
next one sends the rest. A watcher that read the state at 900 waits until `position` is 900 before it joins a group. A
watcher at 6 gets 7..518 from the window first.

Must hold: every member of a group has been given exactly what it sees up to `position`. A turn ends between two
revisions, never within one. A sink that fails or is slow does not delay the other watchers.
"""

import asyncio
import logging
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.yielding import Share
from aio_apiserver.storage.cacher.cache_watcher import CacheWatcher, bookmark
from aio_apiserver.storage.cacher.groups import Group, Groups
from aio_apiserver.storage.cacher.watermark import Watermark
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.errors import Corrupt, StorageError
from aio_apiserver.storage.interface import Frames, WatchBatch, WatchEvent

logger = logging.getLogger(__name__)

_TURN_BYTES = 4 * 1024 * 1024
"""The bytes of the objects in one turn: each group has one frame of them in memory."""
_SHORTEST_REST = 0.001
_REST, _FULL_REST = 3, 0.008
"""The rest in times of its turn, up to so many seconds. A turn that takes longer has a rest of its own length."""
_LONGEST_REST = 0.05


class Fanout:
    """Delivers to watchers. `on_slow` takes over a slow watcher, from the watcher's own revision on."""

    def __init__(
        self, triggers: Sequence[str], clock: Clock, tasks: Tasks, on_slow: Callable[[CacheWatcher], None]
    ) -> None:
        self.position = Watermark()
        self.watchers: set[CacheWatcher] = set()
        self._clock = clock
        self._tasks = tasks
        self._on_slow = on_slow
        self._groups = Groups(triggers)
        self._queue: deque[Change] = deque()
        self._most_queued = 0
        """The high-water mark of the queue: the most changes that a turn has found in it."""
        self._newest = 0
        self._is_scheduled = False
        """Whether a turn, or the pause after a turn, is scheduled."""
        self._begun_at = -math.inf
        """When the last turn began."""
        self._deliveries = 0
        self._batches = 0
        self._failed_sinks = 0

    # What the cache tells

    def changed(self, changes: Sequence[Change], revision: int) -> None:
        """Take all changes up to `revision`."""
        self._newest = revision
        if self._queue or self._groups:  # behind queued changes nothing may be left out: a group may be born meanwhile
            self._queue.extend(changes)
        if not self._queue:
            self.position.advance(revision)
        elif not self._is_scheduled:
            self._schedule()

    @property
    def skips_gaps(self) -> bool:
        """Whether a watcher continues after lost history."""
        return any(watcher.skips_gaps for watcher in self.watchers)

    def restarted(self, changes: Sequence[Change], revision: int) -> None:
        """The history before `revision` was lost: end all watches but those that skip gaps."""
        for watcher in list(self.watchers):
            if not watcher.skips_gaps:
                self.end(watcher, None)
        if self._groups:
            self.changed(changes, revision)
            return
        self._queue.clear()
        self._newest = revision
        self.position.advance(revision)

    # What watchers do

    def join(self, watcher: CacheWatcher) -> None:
        """Put a watcher that has been given everything up to `position` into its group."""
        assert watcher.revision == self.position.revision
        watcher.group = self._groups.add(watcher)

    def end(self, watcher: CacheWatcher, reason: StorageError | None) -> None:
        """End a watch in any phase. Safe to call twice."""
        if watcher.is_ended:
            return
        watcher.is_ended = True
        watcher.initial = None
        self.watchers.discard(watcher)
        self._leave(watcher)
        if watcher.feeding is not None and watcher.feeding is not asyncio.current_task():
            watcher.feeding.cancel()
        watcher.feeding = None  # the frames of the cancelled task have the watcher: no cycle for the garbage collector
        try:
            watcher.sink.end(reason)
        except Exception:  # a sink's own failure must not reach the others
            logger.exception("the sink of a watch failed at its end")

    def end_all(self, reason: StorageError | None) -> None:
        for watcher in list(self.watchers):
            self.end(watcher, reason)

    # Delivering

    def flush(self) -> None:
        """Send one turn's share of the queue."""
        if not self._queue:
            return
        slow: list[CacheWatcher] = []
        seen, broken, revision = self._match()
        shared: Frames | None = {} if len(seen) > 1 else None
        for group, events in seen.items():
            slow += self.send(list(group.members), WatchBatch(events, shared))
        for group, reason in broken.items():
            for watcher in list(group.members):
                self.end(watcher, reason)
        self.position.advance(revision)
        for watcher in slow:
            self._fall_back(watcher, revision)
        if self._queue and not self._is_scheduled:
            self._schedule()

    def send_bookmark(self, members: Iterable[CacheWatcher]) -> None:
        """Send a bookmark with the current position to some members of groups."""
        revision = self.position.revision
        for watcher in self.send(members, WatchBatch((bookmark(revision),))):
            self._fall_back(watcher, revision)

    def send(self, watchers: Iterable[CacheWatcher], batch: WatchBatch) -> list[CacheWatcher]:
        """Hand one batch to some watchers; returns the watchers whose sinks are above their limits."""
        slow = []
        sent = 0
        for watcher in watchers:
            if watcher.is_ended:
                continue
            sink = watcher.sink
            try:
                sink.deliver(batch)
            except Exception as exc:  # noqa: BLE001 - a sink's own failure must not reach the others
                self._fail(watcher, exc)
                continue
            sent += 1
            if sink.backlog > sink.backlog_limit:
                slow.append(watcher)
        self._batches += 1
        self._deliveries += sent * len(batch.events)
        return slow

    def statistics(self) -> Mapping[str, int]:
        return {
            "watchers": len(self.watchers),
            "groups": len(self._groups),
            "members": sum(len(group.members) for group in self._groups),
            "position": self.position.revision,
            "queued": len(self._queue),
            "most_queued": self._most_queued,
            "batches": self._batches,
            "deliveries": self._deliveries,
            "failed_sinks": self._failed_sinks,
        }

    def _match(self) -> tuple[dict[Group, list[WatchEvent]], dict[Group, Corrupt], int]:
        """Take one turn's share of changes: what each group sees, the groups with a corrupt object, and the last
        revision.
        """
        seen: dict[Group, list[WatchEvent]] = {}
        broken: dict[Group, Corrupt] = {}
        queue = self._queue
        self._most_queued = max(self._most_queued, len(queue))
        share = Share(self._clock)
        size, is_over = 0, False
        while queue:
            change = queue.popleft()
            size += change.size
            for group in self._groups.concerned(change):
                if group not in broken:
                    self._show(change, group, seen=seen, broken=broken)
            is_over = share.step() or is_over or size >= _TURN_BYTES
            if is_over and queue and queue[0].revision != change.revision:
                return seen, broken, change.revision
        return seen, broken, self._newest

    def _show(
        self, change: Change, group: Group, *, seen: dict[Group, list[WatchEvent]], broken: dict[Group, Corrupt]
    ) -> None:
        try:
            event = change.seen_through(group.predicate)
            if event is None:
                return
            assert event.object is not None
            event.object.hydrate()
        except Corrupt as exc:
            broken[group] = exc
            return
        events = seen.get(group)
        if events is None:
            seen[group] = [event]
        else:
            events.append(event)

    def _schedule(self) -> None:
        self._is_scheduled = True
        asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        begun, changes = self._clock.monotonic(), len(self._queue)
        period, self._begun_at = begun - self._begun_at, begun
        self.flush()
        if self._clock.monotonic() - begun < _SHORTEST_REST:  # the rest of the event loop's turn is other work
            asyncio.get_running_loop().call_soon(self._go_on)
        else:
            asyncio.get_running_loop().call_soon(self._end_turn, changes, period)  # sinks write at the end of a turn

    def _end_turn(self, changes: int, period: float) -> None:
        """Rest behind a turn. changes: those that came in the period before the turn, which set the rate."""
        took = self._clock.monotonic() - self._begun_at
        seconds = min(max(took, min(_REST * took, _FULL_REST)), _LONGEST_REST)
        if changes * seconds < period:
            self._go_on()
        else:
            self._tasks.spawn(self._rest(seconds), name="rest behind a turn")

    async def _rest(self, seconds: float) -> None:
        await self._clock.sleep(seconds)
        self._go_on()

    def _go_on(self) -> None:
        if self._queue:
            self._take_turn()
        else:
            self._is_scheduled = False

    def _fall_back(self, watcher: CacheWatcher, revision: int) -> None:
        if watcher.is_ended:
            return
        self._leave(watcher)
        watcher.revision = revision
        self._on_slow(watcher)

    def _leave(self, watcher: CacheWatcher) -> None:
        if watcher.group is not None:
            self._groups.discard(watcher, watcher.group)
            watcher.group = None

    def _fail(self, watcher: CacheWatcher, failure: Exception) -> None:
        self._failed_sinks += 1
        logger.error("the sink of a watch failed; the watch is ended", exc_info=failure)
        self.end(watcher, failure if isinstance(failure, StorageError) else None)
