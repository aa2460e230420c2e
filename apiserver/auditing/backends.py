"""Backends: the contract of audit backends, and backends that wrap others.

Must hold: a backend does not raise. Lost events are counted, and logged without their bodies.
"""

import logging
from collections.abc import Sequence
from typing import Protocol

import orjson
from msgspec import Struct

from aio_apiserver.apiserver.metrics.audit import AuditMetrics
from aio_apiserver.registry.generic.audit import lines
from aio_apiserver.registry.generic.audit.trail import Event

logger = logging.getLogger(__name__)

_TRUNCATED = "audit.k8s.io/truncated"
_BODIES = frozenset({"requestObject", "responseObject"})


class Backend(Protocol):
    """A receiver of audit events."""

    async def process(self, events: Sequence[Event]) -> bool:
        """Whether the events are written, or queued."""
        ...

    async def close(self) -> None:
        """Take no more events, and finish the present ones."""
        ...


class FailureReports(Struct, frozen=True):
    """Counts and logs failures of backends."""

    metrics: AuditMetrics

    def tell(self, plugin: str, failure: str, events: Sequence[Event]) -> None:
        self.metrics.failed(plugin, len(events))
        payload = "\n".join(map(lines.text, events))
        logger.error(
            "Error in audit plugin '%s' affecting %d audit events: %s\nImpacted events:\n%s",
            plugin,
            len(events),
            failure,
            payload,
        )


class Union:
    """Several backends as one."""

    def __init__(self, backends: Sequence[Backend]) -> None:
        self._backends = tuple(backends)

    async def process(self, events: Sequence[Event]) -> bool:
        results = [await backend.process(events) for backend in self._backends]
        return all(results)

    async def close(self) -> None:
        for backend in self._backends:
            await backend.close()


class Lenient:
    """A backend whose failures do not fail the request."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    async def process(self, events: Sequence[Event]) -> bool:
        await self._backend.process(events)
        return True

    async def close(self) -> None:
        await self._backend.close()


class Truncating:
    """Removes bodies from events that are too big, and splits batches that are too big. Sizes are those of the JSON."""

    def __init__(self, backend: Backend, troubles: FailureReports, *, most_of_event: int, most_of_batch: int) -> None:
        self._backend = backend
        self._troubles = troubles
        self._most_of_event = most_of_event
        self._most_of_batch = most_of_batch

    async def process(self, events: Sequence[Event]) -> bool:
        is_well = True
        batch: list[Event] = []
        size = 0
        for given in events:
            event, length = self._fitting(given)
            if length > self._most_of_event:
                self._troubles.tell("truncate", "event is too large even after truncating", [event])
                continue
            if batch and size + length > self._most_of_batch:
                is_well = await self._backend.process(batch) and is_well
                batch, size = [], 0
            batch.append(event)
            size += length
        if batch:
            is_well = await self._backend.process(batch) and is_well
        return is_well

    def _fitting(self, event: Event) -> tuple[Event, int]:
        """An event that fits, without its bodies if needed, and its size."""
        size = len(orjson.dumps(event)) + 1
        if size <= self._most_of_event or event["level"] == "Metadata":
            return event, size
        bare = {name: value for name, value in event.items() if name not in _BODIES}
        bare["annotations"] = {**bare.get("annotations", {}), _TRUNCATED: "true"}
        return bare, len(orjson.dumps(bare)) + 1

    async def close(self) -> None:
        await self._backend.close()
