"""Replay: how a watch asks an engine for events that lie in the past. Each engine answers from its own history."""

from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from aio_apiserver.storage.kv.interface import Event


class Replay(Struct, frozen=True, kw_only=True):
    """The events of a range (start <= key < end) between two revisions, both included."""

    start: bytes
    end: bytes
    first: int
    last: int


class Replayed(Struct, frozen=True):
    """A part of a replay: whole revisions, up to but not including `next_revision`, which lies behind the first."""

    events: Sequence[Event]
    next_revision: int


Replaying = Callable[[Replay], Awaitable[Replayed]]
"""Gives the first part of a replay. Raises Compacted when its first revision is no longer kept."""
