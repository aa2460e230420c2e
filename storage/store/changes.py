"""Changes: updates and deletions by compare-and-set, with another try when another writer was faster.

The loop that updates and deletions share. A KeyChange decides what to do with a given state. The loop decides which
state to show it, when to check a suggested state against the store, and when to give up. It knows no codec and no
lease.

Must hold:
- A failure on a suggested state counts only if the store still has that very state, and so does a decision to write
  nothing. A failure on a state that was read from the store is final.
- A lost race costs no read: the kv engine returns the state that won.
- A write with an unknown outcome is not repeated.
"""

from typing import Protocol, TypeVar

from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.jitter import chance
from aio_apiserver.storage.errors import TooManyConflicts
from aio_apiserver.storage.kv.interface import WriteResult
from aio_apiserver.storage.record import Record
from aio_apiserver.storage.store.key_queues import KeyQueues
from aio_apiserver.storage.stored_object import StoredObject

MAX_ATTEMPTS = 40
"""Lost races before a change gives up. With three servers writing one key, one change in ten million reaches this."""

_FIRST_PAUSE = 0.001
_LONGEST_PAUSE = 0.1

D = TypeVar("D")


class KeyChange(Protocol[D]):
    """One update or deletion of one key. D is the type of its decision."""

    @property
    def key(self) -> str: ...

    @property
    def is_deletion(self) -> bool: ...

    async def begin_with(self, suggestion: StoredObject) -> None:
        """Called with a suggested state before the decision; not called for a state that was read."""
        ...

    async def fetch(self) -> Record | None:
        """The current record."""
        ...

    async def state_of(self, record: Record | None) -> StoredObject | None:
        """The object in a record. Raises KeyNotFound when the change needs an existing object."""
        ...

    async def decide(self, current: StoredObject | None) -> D | None:
        """The value to write over this state; None to leave it unchanged. Raises to refuse."""
        ...

    def is_confirmed(self, fresh: StoredObject) -> bool:
        """Whether the decision to write nothing also holds for the state just read, which has the same revision."""
        ...

    async def unchanged(self, current: StoredObject) -> StoredObject:
        """The result when nothing is written."""
        ...

    async def write(self, current: StoredObject | None, decision: D) -> WriteResult:
        """Compare-and-set against this state."""
        ...

    async def result(self, current: StoredObject | None, decision: D, write: WriteResult) -> StoredObject:
        """The result of a successful write."""
        ...


class UntranslatedChange:
    """The methods of a KeyChange that are the same for all objects stored without translation."""

    __slots__ = ()

    async def begin_with(self, suggestion: StoredObject) -> None:
        """A suggestion needs no preparation."""

    def is_confirmed(self, fresh: StoredObject) -> bool:
        return not fresh.is_stale

    async def unchanged(self, current: StoredObject) -> StoredObject:
        return current


class _KnownState(Struct, frozen=True):
    """A state to decide on. `is_verified`: it was read from the store during this change."""

    stored: StoredObject | None
    is_verified: bool

    @property
    def revision(self) -> int:
        return self.stored.revision if self.stored is not None else 0


class _Settled(Struct, frozen=True):
    """The change is done. `left`: the new state of the key, if any."""

    result: StoredObject
    left: StoredObject | None


class Changes:
    """Applies changes to the keys of one resource."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._queues = KeyQueues()
        self._lost_races = 0

    async def apply(self, change: KeyChange[D], suggestion: StoredObject | None) -> StoredObject:
        """Apply a change, beginning with the suggestion if given. Raises TooManyConflicts and the change's errors."""
        known = _KnownState(suggestion, is_verified=False) if suggestion is not None else None
        if change.key not in self._queues:
            outcome = await self._attempt(change, known)
            if isinstance(outcome, _Settled):
                return outcome.result
            known = outcome
        async with self._queues.take(change.key) as queue:
            settled = await self._compete(change, _newest(known, queue.latest))
            queue.latest = settled.left
            return settled.result

    def statistics(self) -> dict[str, int]:
        return {"lost_races": self._lost_races, "contended_keys": len(self._queues)}

    async def _compete(self, change: KeyChange[D], known: _KnownState | None) -> _Settled:
        """Try until it succeeds. Writers of this process wait in the queue, so races are lost to other processes."""
        for attempt in range(MAX_ATTEMPTS):
            outcome = await self._attempt(change, known)
            if isinstance(outcome, _Settled):
                return outcome
            known = outcome
            if attempt:
                await self._clock.sleep(_pause(attempt))
        raise TooManyConflicts(change.key, MAX_ATTEMPTS)

    async def _attempt(self, change: KeyChange[D], known: _KnownState | None) -> _Settled | _KnownState:
        """One compare-and-set; returns the winning state when the race is lost."""
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

    async def _decide(self, change: KeyChange[D], known: _KnownState) -> tuple[StoredObject | None, D | None]:
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
            try:
                raise failure
            finally:
                failure = None  # this frame is in its traceback: a cycle would keep the objects of the change
        is_confirmed = fresh.stored is None or change.is_confirmed(fresh.stored)
        return fresh.stored, None if is_confirmed else await change.decide(fresh.stored)


async def _verified(change: KeyChange[D], record: Record | None) -> _KnownState:
    return _KnownState(await change.state_of(record), is_verified=True)


def _newest(known: _KnownState | None, latest: StoredObject | None) -> _KnownState | None:
    """The state to begin with. The state left by the previous writer of the queue counts as a suggestion."""
    if latest is None or (known is not None and known.revision >= latest.revision):
        return known
    return _KnownState(latest, is_verified=False)


def _pause(attempt: int) -> float:
    """Seconds to wait for other processes; grows with the attempts, with random spread."""
    return chance.uniform(0, min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt))
