"""Stores of WIDGETS for tests, and a kv engine that fails on request."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from aio_apiserver.base.clock import Clock, ManualClock
from aio_apiserver.storage.codec import MSGPACK, Codec
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.health import Health
from aio_apiserver.storage.kv.interface import KV, EventBatch, GetResult, RangeResult, WriteResult
from aio_apiserver.storage.store.lease_manager import LeaseManager
from aio_apiserver.storage.store.store import KVStore
from aio_apiserver.storage.transformers.transformer import IDENTITY, Transformer
from tests.storage.steps import WIDGETS

PREFIX = "/registry/example.com/widgets/"


def store_on(
    kv: KV,
    *,
    clock: Clock | None = None,
    codec: Codec = MSGPACK,
    transformer: Transformer = IDENTITY,
    prefix: str = PREFIX,
) -> KVStore:
    """A store of WIDGETS. Several on one kv are like several servers."""
    clock = clock or ManualClock()
    return KVStore(
        kv,
        WIDGETS,
        prefix=prefix,
        codec=codec,
        transformer=transformer,
        leases=LeaseManager(kv, clock=clock),
        clock=clock,
    )


def raw_key(key: str) -> bytes:
    """The kv key of an object."""
    return PREFIX.encode() + key.encode()


async def no_interference() -> None:
    """Called before a request; by default it does nothing."""


class Interfered:
    """A kv engine that can call a function before puts and grants, and lose the answers to puts."""

    def __init__(self, kv: KV) -> None:
        self.before_grant: Callable[[], Awaitable[None]] = no_interference
        self.before_put: Callable[[], Awaitable[None]] = no_interference
        self.answer_lost: StorageError | None = None
        self.gets = 0
        self.puts = 0
        self._kv = kv

    @property
    def has_reliable_progress(self) -> bool:
        return self._kv.has_reliable_progress

    def statistics(self) -> Mapping[str, Any]:
        return self._kv.statistics()

    def known_revision(self) -> int | None:
        return self._kv.known_revision()

    async def get(self, key: bytes, *, revision: int = 0) -> GetResult:
        self.gets += 1
        return await self._kv.get(key, revision=revision)

    async def range(
        self,
        start: bytes,
        end: bytes,
        *,
        limit: int = 0,
        revision: int = 0,
        keys_only: bool = False,
        count_only: bool = False,
    ) -> RangeResult:
        return await self._kv.range(
            start, end, limit=limit, revision=revision, keys_only=keys_only, count_only=count_only
        )

    async def put(self, key: bytes, value: bytes, *, expected_mod_revision: int, lease: int = 0) -> WriteResult:
        self.puts += 1
        await self.before_put()
        result = await self._kv.put(key, value, expected_mod_revision=expected_mod_revision, lease=lease)
        if self.answer_lost is not None:
            raise self.answer_lost
        return result

    async def delete(self, key: bytes, *, expected_mod_revision: int) -> WriteResult:
        return await self._kv.delete(key, expected_mod_revision=expected_mod_revision)

    async def grant_lease(self, ttl: int) -> int:
        await self.before_grant()
        return await self._kv.grant_lease(ttl)

    async def revoke_lease(self, lease: int) -> None:
        await self._kv.revoke_lease(lease)

    def watch(
        self, start: bytes, end: bytes, *, revision: int
    ) -> AbstractAsyncContextManager[AsyncIterator[EventBatch]]:
        return self._kv.watch(start, end, revision=revision)

    async def request_progress(self) -> None:
        await self._kv.request_progress()

    async def current_revision(self) -> int:
        return await self._kv.current_revision()

    async def compact(self, revision: int) -> None:
        await self._kv.compact(revision)

    async def health(self) -> Health:
        return await self._kv.health()

    async def close(self) -> None:
        await self._kv.close()
