"""kubernetes_events: the Events of the cluster as entries of the timeline.

Events have no watch cache. So they are followed by a watch, from the first look at the timeline on.

Must hold: at most 1,000 Events are kept, the newest ones. The text of an Event is bounded.
"""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.generic.following import Following
from aio_apiserver.storage.factory.factory import StorageFactory
from aio_apiserver.storage.stored_object import StoredObject

MOST = 1000
_LONGEST = 600
_SECONDS = 2.0
"""An Event that is younger when the watch brings it has the time of this moment: its own times are whole seconds."""


class KubernetesEvent(Struct, kw_only=True):
    """One Event. kind, namespace, name, regarding: of the object that it is about, with its uid."""

    revision: int
    at: float
    uid: str
    type: str
    reason: str
    message: str
    count: int
    source: str
    kind: str
    namespace: str
    name: str
    regarding: str


class KubernetesEvents:
    """The Events of one server's cluster."""

    def __init__(self, storage: StorageFactory, background: Tasks, clock: Clock) -> None:
        self._storage = storage
        self._background = background
        self._clock = clock
        self._following: Following[None] | None = None
        self._known: dict[str, KubernetesEvent] = {}

    async def after(self, revision: int) -> Sequence[KubernetesEvent]:
        """The Events after a revision, in order of revision."""
        if self._following is None:
            self._follow()
        if self._following is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._following.wait_until_current(), _SECONDS)
        newer = (one for one in self._known.values() if one.revision > revision)
        return sorted(newer, key=lambda one: one.revision)[-MOST:]

    def _follow(self) -> None:
        storage = self._storage.opened("", "events", "")
        if storage is not None:
            self._following = Following(storage, self._take)
            self._background.spawn(self._following.run(self._clock), name="events in the timeline")

    def _take(self, stored: StoredObject) -> None:
        known = self._known.get(stored.key)
        if known is not None and known.revision >= stored.revision:
            return
        self._known[stored.key] = kubernetes_event(stored.decode(), stored.revision, self._clock.now())
        if len(self._known) > 2 * MOST:
            newest = sorted(self._known.items(), key=lambda item: item[1].revision)[-MOST:]
            self._known = dict(newest)


def kubernetes_event(event: Mapping[str, Any], revision: int, now: float) -> KubernetesEvent:
    """The entry of one Event, of either API group."""
    about, series = event.get("involvedObject") or {}, event.get("series") or {}
    metadata, source = event["metadata"], event.get("source") or {}
    stated = (
        series.get("lastObservedTime")
        or event.get("lastTimestamp")
        or event.get("eventTime")
        or metadata.get("creationTimestamp")
    )
    at = _seconds(stated, now)
    return KubernetesEvent(
        revision=revision,
        at=now if 0 <= now - at < _SECONDS else at,
        uid=metadata.get("uid", ""),
        type=event.get("type") or "Normal",
        reason=(event.get("reason") or "")[:_LONGEST],
        message=(event.get("message") or "")[:_LONGEST],
        count=series.get("count") or event.get("count") or 1,
        source=(event.get("reportingComponent") or source.get("component") or "")[:_LONGEST],
        kind=about.get("kind", ""),
        namespace=about.get("namespace", ""),
        name=about.get("name", ""),
        regarding=about.get("uid", ""),
    )


def _seconds(text: str | None, default: float) -> float:
    try:
        return datetime.fromisoformat(text).timestamp() if text else default
    except ValueError:
        return default
