"""kubernetes_events: the Events of the cluster as entries of the timeline.

Events have no watch cache. So they are followed by a watch, from the first look at the timeline on.

Must hold: at most 1,000 Events are kept, those that changed last, and they are bounded by bytes. A kept Event does not
change, and its texts are bounded.
"""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from sys import getsizeof
from typing import Any

from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.kept_items import KeptByKey
from aio_apiserver.base.short_texts import cut
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.generic.following import Following
from aio_apiserver.storage.factory.factory import StorageFactory
from aio_apiserver.storage.stored_object import StoredObject

MOST = 1000
_KEPT_BYTES = 8 * 1024 * 1024
_BYTES = 500
"""The memory of an Event without its texts."""
_LONGEST = 600
_SECONDS = 2.0
"""An Event that is younger when the watch brings it has the time of this moment: its own times are whole seconds."""


class KubernetesEvent(Struct, frozen=True, kw_only=True):
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

    @property
    def size(self) -> int:
        """The bytes in memory."""
        return _BYTES + sum(getsizeof(getattr(self, name)) for name in self.__struct_fields__)


class KubernetesEvents:
    """The Events of one server's cluster."""

    def __init__(self, storage: StorageFactory, background: Tasks, clock: Clock) -> None:
        self._storage = storage
        self._background = background
        self._clock = clock
        self._following: Following[None] | None = None
        self._kept: KeptByKey[str, KubernetesEvent] = KeptByKey(_KEPT_BYTES, MOST)
        """By the key in the store."""

    async def after(self, revision: int) -> Sequence[KubernetesEvent]:
        """The Events after a revision, in order of revision."""
        if self._following is None:
            self._follow()
        if self._following is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._following.wait_until_current(), _SECONDS)
        return sorted((one for one in self._kept if one.revision > revision), key=lambda one: one.revision)

    def _follow(self) -> None:
        storage = self._storage.opened("", "events", "")
        if storage is not None:
            self._following = Following(storage, self._take)
            self._background.spawn(self._following.run(self._clock), name="events in the timeline")

    def _take(self, stored: StoredObject) -> None:
        earlier = self._kept.get(stored.key)
        if earlier is None or earlier.revision < stored.revision:
            entry = kubernetes_event(stored.decode(), stored.revision, self._clock.now())
            self._kept.put(stored.key, entry, entry.size)


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
        uid=_text(metadata.get("uid")),
        type=_text(event.get("type")) or "Normal",
        reason=_text(event.get("reason")),
        message=_text(event.get("message")),
        count=series.get("count") or event.get("count") or 1,
        source=_text(event.get("reportingComponent") or source.get("component")),
        kind=_text(about.get("kind")),
        namespace=_text(about.get("namespace")),
        name=_text(about.get("name")),
        regarding=_text(about.get("uid")),
    )


def _text(value: str | None) -> str:
    return cut(value or "", _LONGEST)


def _seconds(text: str | None, default: float) -> float:
    try:
        return datetime.fromisoformat(text).timestamp() if text else default
    except ValueError:
        return default
