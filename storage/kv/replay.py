"""Replay: past events of a range, which a watch gets from the history of its engine."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from aio_apiserver.storage.kv.interface import KV, Event


class Replay(Struct, frozen=True, kw_only=True):
    """The events of a range (start <= key < end) between two revisions, both included."""

    start: bytes
    end: bytes
    first: int
    last: int


class Replayed(Struct, frozen=True, array_like=True):
    """A part of a replay: whole revisions before `next_revision`, which is later than the first one."""

    events: Sequence[Event]
    next_revision: int


Replaying = Callable[[Replay], Awaitable[Replayed]]
"""Returns the first part of a replay. Raises Compacted when its first revision is not kept."""


class EmbeddedKV(KV, Protocol):
    """An engine with its store in this process, which serves watches of other processes too."""

    def on_revision(self, note: Callable[[int], None]) -> None:
        """Call `note` with each new revision, before the write returns and before its events are seen."""
        ...

    async def replay(self, wanted: Replay) -> Replayed:
        """The first part of a replay. Raises Compacted when its first revision is not kept."""
        ...
