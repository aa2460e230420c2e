"""history: what the timeline of one server shows, from its record of requests and the windows of its watch caches."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins

from aio_apiserver.apiserver.console.timeline.kubernetes_events import KubernetesEvent, KubernetesEvents
from aio_apiserver.apiserver.console.timeline.object_changes import ObjectChange, object_change, object_then
from aio_apiserver.apiserver.console.timeline.worker_requests import WorkerRequests
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.storage.change import Change
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.factory.factory import StorageFactory
from aio_apiserver.storage.factory.readable_pages import readable_pages
from aio_apiserver.storage.stored_object import StoredObject

MOST_CHANGES = 3000
_MOST_OF_RESOURCE = 1000
_SECRETS = ("", "secrets")
_LAG_SECONDS = 3.0
"""The caches of two resources and the watch of Events may be so far apart. A client gets what is younger again."""


class HistoryMoment(Struct, frozen=True):
    """A place in the history: what came after it is asked for. positions: in the records of requests."""

    positions: str = ""
    revision: int = 0


class ServerHistory:
    """The history of one server."""

    def __init__(
        self, requests: WorkerRequests, events: KubernetesEvents, storage: StorageFactory, clock: Clock
    ) -> None:
        self.requests = requests
        self._events = events
        self._storage = storage
        self._clock = clock.patience

    async def now(self) -> HistoryMoment:
        """The present moment."""
        return HistoryMoment(await self.requests.now(), await self._storage.current_revision())

    async def after(self, moment: HistoryMoment) -> Mapping[str, Any]:
        """The requests, changes and Events after a moment, and the moment up to which they go."""
        read = await self.requests.after(moment.positions)
        changes, events = await self.changes(moment.revision), await self._events.after(moment.revision)
        now = self._clock.now()
        seen: Sequence[ObjectChange | KubernetesEvent] = (*changes, *events)
        settled = (one.revision for one in seen if one.at <= now - _LAG_SECONDS)
        return {
            "now": now,
            "next": {"positions": read.positions, "revision": max((moment.revision, *settled))},
            "requests": read.requests,
            "changes": [to_builtins(one) for one in changes],
            "events": [to_builtins(one) for one in events],
            "isCut": len(changes) >= MOST_CHANGES,
        }

    async def raw_changes(self, revision: int) -> list[tuple[str, str, Change]]:
        """The newest changes after a revision with group and resource, in order of revision."""
        found = [one async for one in in_turns(self._storage.recent_changes(revision, _MOST_OF_RESOURCE))]
        return sorted(found, key=lambda one: one[2].revision)

    async def changes(self, revision: int) -> list[ObjectChange]:
        """The newest changes after a revision, in order of revision."""
        made: list[ObjectChange] = []
        async for group, resource, change in in_turns((await self.raw_changes(revision))[-MOST_CHANGES:]):
            try:
                made.append(object_change(group, resource, change, self._time_of(change.at)))
            except Corrupt:
                continue
        return made

    def object_at(self, group: str, resource: str, *, uid: str, revision: int) -> tuple[Object, Object]:
        """An object before and after the change at a revision. Raises KeyError when the window has lost it."""
        for its_group, its_resource, change in self._storage.recent_changes(revision - 1, _MOST_OF_RESOURCE):
            if (its_group, its_resource, change.revision) != (group, resource, revision):
                continue
            states = [object_then(group, resource, one) if one else {} for one in (change.previous, change.current)]
            if any(one.get("metadata", {}).get("uid") == uid for one in states):
                return states[0], states[1]
        raise KeyError(uid)

    async def secrets(self, unreadable: set[str]) -> AsyncIterator[Sequence[StoredObject]]:
        """All Secrets in pages, with the states that the window still has of changed and deleted ones.

        `unreadable` gets the namespaces and names of those that cannot be read.
        """
        changes = [change for group, resource, change in await self.raw_changes(0) if (group, resource) == _SECRETS]
        yield [stored for one in changes for stored in (one.previous, one.current) if stored is not None]
        storage = self._storage.opened(*_SECRETS, "")
        if storage is not None:
            async for page in readable_pages(storage, unreadable):
                yield page

    def _time_of(self, at: float) -> float:
        return self._clock.now() - (self._clock.monotonic() - at)
