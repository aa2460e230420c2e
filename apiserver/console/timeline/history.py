"""history: what the timeline of one server shows, from its record of requests and the windows of its watch caches."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins

from aio_apiserver.apiserver.console.timeline.kubernetes_events import KubernetesEvents
from aio_apiserver.apiserver.console.timeline.object_changes import ObjectChange, object_change, object_then
from aio_apiserver.apiserver.console.timeline.worker_requests import WorkerRequests
from aio_apiserver.storage.cacher.change import Change
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.errors import Corrupt
from aio_apiserver.storage.factory.factory import StorageFactory
from aio_apiserver.storage.interface import ListOptions
from aio_apiserver.storage.stored_object import Object, StoredObject
from aio_apiserver.storage.yielding import in_turns

MOST_CHANGES = 3000
_MOST_OF_RESOURCE = 1000
_SECRETS = ("", "secrets")
_LAG = 50
"""The caches of two resources may be so many revisions apart. A client gets these changes again."""


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
        newest = max((*(one.revision for one in changes), *(one.revision for one in events), moment.revision))
        return {
            "now": self._clock.now(),
            "next": {"positions": read.positions, "revision": max(newest - _LAG, moment.revision)},
            "requests": read.requests,
            "changes": [to_builtins(one) for one in changes],
            "events": [to_builtins(one) for one in events],
            "isCut": len(changes) >= MOST_CHANGES,
        }

    def raw_changes(self, revision: int) -> list[tuple[str, str, Change]]:
        """The newest changes after a revision with group and resource, in order of revision."""
        return sorted(self._storage.recent_changes(revision, _MOST_OF_RESOURCE), key=lambda one: one[2].revision)

    async def changes(self, revision: int) -> list[ObjectChange]:
        """The newest changes after a revision, in order of revision."""
        made: list[ObjectChange] = []
        async for group, resource, change in in_turns(self.raw_changes(revision)[-MOST_CHANGES:]):
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

    async def secrets(self) -> Sequence[StoredObject]:
        """All Secrets, with the states that the window still has of changed and deleted ones."""
        known = [
            stored
            for group, resource, change in self.raw_changes(0)
            if (group, resource) == _SECRETS
            for stored in (change.previous, change.current)
            if stored is not None
        ]
        storage = self._storage.opened(*_SECRETS, "")
        return known if storage is None else [*(await storage.get_list("", ListOptions())).items, *known]

    def _time_of(self, at: float) -> float:
        return self._clock.now() - (self._clock.monotonic() - at)
