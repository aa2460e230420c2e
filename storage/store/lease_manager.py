"""Lease manager: LeaseManager, which shares etcd leases among objects with a TTL, as in kube-apiserver.

A lease is expensive for the kv engine. Writes with the same TTL within a short window share one lease, which lives a
little longer than the TTL. One per kv engine, shared by its stores. It knows no object and no key.

Must hold: an object does not expire before its TTL. It expires at most one window later (60 s, or 5 % of the TTL if
less).
"""

import asyncio

from msgspec import Struct

from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.kv.interface import KV
from aio_apiserver.storage.leases import MAX_OBJECTS, REUSE_SECONDS

_REUSE_SHARE_OF_TTL = 0.05


class _Current(Struct):
    """The lease that writes with one TTL share at present."""

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
        """A lease that lives at least `ttl` seconds from now; each call counts for one object.

        Calls during a grant wait for it and fail with it. When the kv engine does not answer, all of them wait once
        instead of one after the other.
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
        """Stop sharing this lease, which the kv engine no longer knows."""
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
            sent_at = self._clock.monotonic()
            lease = await self._grant(ttl + window)
            self._forget_expired()
            self._current[ttl] = _Current(lease, expires=sent_at + ttl + window)
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
