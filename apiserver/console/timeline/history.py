"""history: what the timeline of one server shows, from its record of requests and the windows of its watch caches.

Entries of changes are kept, so that each change is compared once. Must hold: a comparison is short on the event loop,
and the comparisons of one look at the timeline are bounded together. The newest changes come first.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct, to_builtins

from aio_apiserver.apiserver.console.timeline import object_changes
from aio_apiserver.apiserver.console.timeline.kubernetes_events import KubernetesEvent, KubernetesEvents
from aio_apiserver.apiserver.console.timeline.object_changes import ChangedStates, ObjectChange
from aio_apiserver.apiserver.console.timeline.worker_requests import WorkerRequests
from aio_apiserver.base import budget, worker_thread
from aio_apiserver.base.budget import Budget, BudgetExceeded, BudgetLimits
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.kept_items import KeptByKey
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.factory.factory import StorageFactory
from aio_apiserver.storage.factory.readable_pages import readable_pages
from aio_apiserver.storage.stored_object import StoredObject

MOST_CHANGES = 3000
_MOST_OF_RESOURCE = 1000
_MOST_OF_ALL = 20_000
_SECRETS = ("", "secrets")
_LAG_SECONDS = 3.0
"""The caches of two resources and the watch of Events may be so far apart. A client gets what is younger again."""
_OF_ONE_LOOK = BudgetLimits(steps=1_000_000, bytes_made=128 * 1024 * 1024)
"""For the comparisons of one look: some two seconds of the worker thread. Older changes are left out."""
_SHOWN = BudgetLimits(steps=MOST_CHANGES, bytes_made=8 * 1024 * 1024)
"""The entries of one look."""
_OF_OBJECT = BudgetLimits(steps=2_000_000, bytes_made=16 * 1024 * 1024)
_PAGE = 32
"""Secrets have up to a megabyte, and a page is in memory."""
_KEPT_BYTES = 16 * 1024 * 1024
_USUAL_BYTES = 1000
"""One entry as JSON."""

_Key = tuple[str, str, str, int]
"""A change by its group, resource, key and revision."""


class HistoryMoment(Struct, frozen=True):
    """A place in the history: what came after it is asked for. positions: in the records of requests."""

    positions: str = ""
    revision: int = 0


class ResourceChange(Struct, frozen=True):
    """A change in a watch window, with its resource."""

    group: str
    resource: str
    change: Change

    @property
    def key(self) -> _Key:
        return self.group, self.resource, self.change.key, self.change.revision


class RecentChanges(Struct, frozen=True):
    """Entries of changes, in order of revision. is_cut: older ones were left out."""

    entries: Sequence[ObjectChange]
    is_cut: bool


class ServerHistory:
    """The history of one server."""

    def __init__(
        self, requests: WorkerRequests, events: KubernetesEvents, storage: StorageFactory, clock: Clock
    ) -> None:
        self.requests = requests
        self._events = events
        self._storage = storage
        self._clock = clock.patience
        self._entries: KeptByKey[_Key, ObjectChange] = KeptByKey(_KEPT_BYTES)
        self._comparing = asyncio.Lock()
        """A timeline and a report that are made at the same time share the entries."""

    async def now(self) -> HistoryMoment:
        """The present moment."""
        return HistoryMoment(await self.requests.now(), await self._storage.current_revision())

    async def after(self, moment: HistoryMoment, user: str) -> Mapping[str, Any]:
        """The requests, changes and Events after a moment, and the moment up to which they go. user: who gets them."""
        read = await self.requests.after(moment.positions, user)
        changes, events = await self._changes(moment.revision, user), await self._events.after(moment.revision)
        now = self._clock.now()
        seen: Sequence[ObjectChange | KubernetesEvent] = (*changes.entries, *events)
        settled = (one.revision for one in seen if one.at <= now - _LAG_SECONDS)
        return {
            "now": now,
            "next": {"positions": read.positions, "revision": max((moment.revision, *settled))},
            "requests": read.requests,
            "changes": await _as_json(changes.entries, user),
            "events": await _as_json(events, user),
            "isCut": changes.is_cut,
        }

    def time_of(self, at: float) -> float:
        """The time of a moment on the monotonic scale."""
        return self._clock.now() - (self._clock.monotonic() - at)

    async def newest_changes(self, revision: int) -> Sequence[ResourceChange]:
        """The newest changes after a revision, in order of revision."""
        newest: list[ResourceChange] = []
        async for group, resource, change in in_turns(self._storage.recent_changes(revision, _MOST_OF_RESOURCE)):
            newest.append(ResourceChange(group, resource, change))
            if len(newest) >= 2 * _MOST_OF_ALL:
                newest = _newest(newest, _MOST_OF_ALL)
        return _newest(newest, _MOST_OF_ALL)

    async def object_at(
        self, group: str, resource: str, *, uid: str, revision: int, user: str
    ) -> tuple[Object, Object]:
        """An object before and after the change at a revision. Raises KeyError when the window has lost it, and
        BudgetExceeded.
        """
        for change in self._storage.recent_changes_of(group, resource, revision - 1, _MOST_OF_RESOURCE):
            if change.revision == revision:
                states = object_changes.states_of(group, resource, change, 0.0)
                before, after = await budget.within(_OF_OBJECT, partial(_then, states), user)
                if any(one.get("metadata", {}).get("uid") == uid for one in (before, after)):
                    return before, after
        raise KeyError(uid)

    async def secrets(self, unreadable: set[str]) -> AsyncIterator[Sequence[StoredObject]]:
        """All Secrets in pages, with the states that the window still has of changed and deleted ones.

        `unreadable` gets the namespaces and names of those that cannot be read.
        """
        changes = self._storage.recent_changes_of(*_SECRETS, 0, _MOST_OF_RESOURCE)
        yield [stored for one in changes for stored in (one.previous, one.current) if stored is not None]
        storage = self._storage.opened(*_SECRETS, "")
        if storage is not None:
            async for page in readable_pages(storage, unreadable, _PAGE):
                yield page

    async def _changes(self, revision: int, user: str) -> RecentChanges:
        """The entries of the newest changes after a revision."""
        entries: list[ObjectChange] = []
        changes = await self.newest_changes(revision)
        async with self._comparing:
            compared, shown = Budget(_OF_ONE_LOOK), Budget(_SHOWN)
            try:
                async for one in in_turns(reversed(changes)):
                    entry = self._entries.get(one.key) or await self._compared(one, compared, user)
                    if entry is not None:
                        shown.spend()
                        shown.make(entry.size)
                        entries.append(entry)
            except BudgetExceeded:
                return RecentChanges(entries[::-1], is_cut=True)
        return RecentChanges(entries[::-1], is_cut=False)

    async def _compared(self, one: ResourceChange, left: Budget, user: str) -> ObjectChange | None:
        """The entry of a change, which is kept; None when its objects cannot be read. Raises BudgetExceeded when
        nothing is left.
        """
        try:
            states = object_changes.states_of(one.group, one.resource, one.change, self.time_of(one.change.at))
        except Corrupt:
            return None
        left.make(len(states.before) + len(states.after))
        limits = object_changes.LIMITS
        try:
            entry, steps = await budget.within(limits, partial(_entry_and_steps, states), user)
        except BudgetExceeded:
            entry, steps = await budget.within(limits, partial(object_changes.uncompared, states), user), limits.steps
        self._entries.put(one.key, entry, entry.size)
        left.spend(steps)
        return entry


def _entry_and_steps(states: ChangedStates, account: Budget) -> tuple[ObjectChange, int]:
    return object_changes.object_change(states, account), account.steps_spent


def _then(states: ChangedStates, account: Budget) -> tuple[Object, Object]:
    """Both states of an object."""
    before, after = (object_changes.object_then(states, data, account) for data in (states.before, states.after))
    return before, after


def _newest(changes: Sequence[ResourceChange], most: int) -> list[ResourceChange]:
    return sorted(changes, key=lambda one: one.change.revision)[-most:]


async def _as_json(entries: Sequence[Struct], user: str) -> list[dict[str, Any]]:
    size = len(entries) * _USUAL_BYTES
    made: list[dict[str, Any]] = await worker_thread.run_sized(partial(to_builtins, entries), size, user)
    return made
