"""LeaseManager: few leases for many objects that expire.

A lease is expensive for the kv engine, so writes that ask for the same TTL within a short window share one, which is
granted a little longer than asked for. One per kv engine, shared by the stores on it. Knows no object and no key.

Must hold: an object never expires before its TTL, and at most the window later (60 s, or 5 % of the TTL if less).
"""

import asyncio

from msgspec import Struct

from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.kv.interface import KV

REUSE_SECONDS = 60
MAX_OBJECTS = 1_000
"""kube-apiserver's defaults: revoking a lease with more keys would stall the kv engine for too long."""

_REUSE_SHARE_OF_TTL = 0.05


class _Current(Struct):
    """The lease that writes of one TTL share at the moment."""

    lease: int
    expires: float
    objects: int = 1


class LeaseManager:
    """Hands out leases by TTL."""

    def __init__(
        self, kv: KV, *, clock: Clock, reuse_seconds: int = REUSE_SECONDS, max_objects: int = MAX_OBJECTS
    ) -> None:
        self._kv = kv
        self._clock = clock
        self._reuse_seconds = reuse_seconds
        self._max_objects = max_objects
        self._current: dict[int, _Current] = {}
        self._pending: dict[int, asyncio.Future[None]] = {}
        self._granted = 0

    async def lease_for(self, ttl: int) -> int:
        """A lease that lives at least `ttl` seconds from now; every call stands for one object.

        Who comes while a lease is being granted waits for it, and fails with it: a kv engine that does not answer
        costs everybody one wait, not a queue of them.
        """
        window = min(int(ttl * _REUSE_SHARE_OF_TTL), self._reuse_seconds)
        if not window:
            return await self._grant(ttl)
        while (current := self._reusable(ttl)) is None:
            pending = self._pending.get(ttl)
            if pending is None:
                return await self._renew(ttl, window)
            await asyncio.shield(pending)
        current.objects += 1
        return current.lease

    def discard(self, lease: int) -> None:
        """Never hand out this lease again: the kv engine no longer knows it."""
        self._current = {ttl: current for ttl, current in self._current.items() if current.lease != lease}

    def statistics(self) -> dict[str, int]:
        return {"granted": self._granted, "shared": len(self._current)}

    def _reusable(self, ttl: int) -> _Current | None:
        current = self._current.get(ttl)
        if current is None or current.objects >= self._max_objects:
            return None
        return current if self._clock.monotonic() + ttl < current.expires else None

    async def _renew(self, ttl: int, window: int) -> int:
        pending = self._pending[ttl] = asyncio.get_running_loop().create_future()
        try:
            asked = self._clock.monotonic()
            lease = await self._grant(ttl + window)
            self._forget_expired()
            self._current[ttl] = _Current(lease, expires=asked + ttl + window)
            return lease
        except StorageError as exc:
            pending.set_exception(exc)
            pending.exception()  # those who wait may be none
            raise
        finally:
            del self._pending[ttl]
            if not pending.done():
                pending.set_result(None)

    async def _grant(self, ttl: int) -> int:
        lease = await self._kv.grant_lease(ttl)
        self._granted += 1
        return lease

    def _forget_expired(self) -> None:
        now = self._clock.monotonic()
        self._current = {ttl: current for ttl, current in self._current.items() if now < current.expires}
