"""Changing what exists: decide on the current state, compare-and-set, and again when somebody else was faster.

The loop that updates and deletions share. A Change says what it wants of a given state; this decides which state to
show it, when a suggested state must be checked against the store, and when to give up. Knows no codec and no lease.

Must hold:
- A failure on a suggested state counts only if the store still has that very state, and so does a decision to write
  nothing; a failure on a state that was read from the store is final.
- A lost race costs no read: the kv engine returns the state that won.
- A write whose outcome is unknown is never repeated.
"""

import random
from typing import Protocol, TypeVar

from msgspec import Struct

from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.errors import Conflict
from aio_apiserver.storage.kv.interface import Record, WriteResult
from aio_apiserver.storage.store.key_queues import Turns
from aio_apiserver.storage.stored_object import StoredObject

MAX_ATTEMPTS = 40
"""Lost races before a change gives up; with three servers at one key, one change in ten million meets this."""

_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.1

D = TypeVar("D")


class Change(Protocol[D]):
    """One update or deletion of one key. D is what it decides on."""

    @property
    def key(self) -> str: ...

    @property
    def is_deletion(self) -> bool: ...

    async def begin_with(self, suggestion: StoredObject) -> None:
        """Hear of a state that is decided on without having been read."""
        ...

    async def fetch(self) -> Record | None:
        """The current record."""
        ...

    async def state_of(self, record: Record | None) -> StoredObject | None:
        """The object in a record. Raises KeyNotFound when there is none and there has to be one."""
        ...

    async def decide(self, current: StoredObject | None) -> D | None:
        """What to write over this state; None to leave it as it is. Raises to refuse."""
        ...

    def is_confirmed(self, fresh: StoredObject) -> bool:
        """Whether the decision to write nothing holds for the state of the same revision that was read for it."""
        ...

    async def unchanged(self, current: StoredObject) -> StoredObject:
        """What the caller gets when nothing is written."""
        ...

    async def write(self, current: StoredObject | None, decision: D) -> WriteResult:
        """Compare-and-set against this state."""
        ...

    async def result(self, current: StoredObject | None, decision: D, write: WriteResult) -> StoredObject:
        """What the caller gets for a write that succeeded at `revision`."""
        ...


class Plainly:
    """The part of a Change that is the same for all objects which are kept as they are shown."""

    __slots__ = ()

    async def begin_with(self, suggestion: StoredObject) -> None:
        """A suggestion is as good as what is read."""

    def is_confirmed(self, fresh: StoredObject) -> bool:
        return not fresh.is_stale

    async def unchanged(self, current: StoredObject) -> StoredObject:
        return current


class _Known(Struct, frozen=True):
    """A state to decide on. `is_verified`: it was read from the store while the change was under way."""

    stored: StoredObject | None
    is_verified: bool

    @property
    def revision(self) -> int:
        return self.stored.revision if self.stored is not None else 0


class _Settled(Struct, frozen=True):
    """The change is through. `left`: the state that it left behind, if any."""

    result: StoredObject
    left: StoredObject | None


class Changes:
    """Applies changes."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._turns = Turns()
        self._lost_races = 0

    async def apply(self, change: Change[D], suggestion: StoredObject | None) -> StoredObject:
        """Apply a change to the current state, which the suggestion may be. Raises Conflict and what it raises."""
        known = _Known(suggestion, is_verified=False) if suggestion is not None else None
        if change.key not in self._turns:
            outcome = await self._attempt(change, known)
            if isinstance(outcome, _Settled):
                return outcome.result
            known = outcome
        async with self._turns.take(change.key) as turn:
            settled = await self._compete(change, _newest(known, turn.latest))
            turn.latest = settled.left
            return settled.result

    def statistics(self) -> dict[str, int]:
        return {"lost_races": self._lost_races, "contended_keys": len(self._turns)}

    async def _compete(self, change: Change[D], known: _Known | None) -> _Settled:
        """Try until it holds. In this process it is our turn; what we still lose to are other processes."""
        for attempt in range(MAX_ATTEMPTS):
            outcome = await self._attempt(change, known)
            if isinstance(outcome, _Settled):
                return outcome
            known = outcome
            if attempt:
                await self._clock.sleep(_pause(attempt))
        raise Conflict(change.key, MAX_ATTEMPTS)

    async def _attempt(self, change: Change[D], known: _Known | None) -> _Settled | _Known:
        """One compare-and-set; the state that won when it is lost."""
        if known is None:
            known = await _verified(change, await change.fetch())
        elif not known.is_verified and known.stored is not None:
            await change.begin_with(known.stored)
        decided = await self._decide(change, known)
        current, decision = decided
        if decision is None:
            assert current is not None, "there is nothing to leave as it is"
            return _Settled(await change.unchanged(current), current)
        write = await change.write(current, decision)
        if not write.succeeded:
            self._lost_races += 1
            return await _verified(change, write.record)
        result = await change.result(current, decision, write)
        return _Settled(result, None if change.is_deletion else result)

    async def _decide(self, change: Change[D], known: _Known) -> tuple[StoredObject | None, D | None]:
        """The decision, and the state on which it was made."""
        failure: Exception | None = None
        decision: D | None = None
        try:
            decision = await change.decide(known.stored)
        except Exception as exc:
            if known.is_verified:
                raise
            failure = exc
        if known.is_verified or decision is not None:
            return known.stored, decision
        fresh = await _verified(change, await change.fetch())
        if fresh.revision != known.revision:
            return fresh.stored, await change.decide(fresh.stored)
        if failure is not None:
            raise failure
        is_confirmed = fresh.stored is None or change.is_confirmed(fresh.stored)
        return fresh.stored, None if is_confirmed else await change.decide(fresh.stored)


async def _verified(change: Change[D], record: Record | None) -> _Known:
    return _Known(await change.state_of(record), is_verified=True)


def _newest(known: _Known | None, latest: StoredObject | None) -> _Known | None:
    """What to start from when one's turn has come; what the one before has left is a suggestion like any other."""
    if latest is None or (known is not None and known.revision >= latest.revision):
        return known
    return _Known(latest, is_verified=False)


def _pause(attempt: int) -> float:
    """Seconds to wait for other processes: grows, and differs from theirs."""
    return random.uniform(0, min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt))  # noqa: S311 - not a secret
