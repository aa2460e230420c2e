"""Engine: EtcdKV, the kv contract on an etcd cluster.

Each method builds a message, sends it through Requests, and reads the answer. Retries, members, tokens and the watch
stream have their own modules.

Must hold: every exception of gRPC and etcd becomes one of storage's errors, within the deadline.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import aio_apiserver.storage.kv.etcd.aetcd_rpc.rpc_pb2 as rpc
from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.storage.errors import (
    Closed,
    Compacted,
    FutureRevision,
    LeaseNotFound,
    StorageError,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from aio_apiserver.storage.etcd_config import EtcdConfig
from aio_apiserver.storage.health import Health
from aio_apiserver.storage.kv.etcd import messages
from aio_apiserver.storage.kv.etcd.endpoint import COMPACT, GRANT_LEASE, LEASE_TIME, RANGE, REVOKE_LEASE, STATUS, TXN
from aio_apiserver.storage.kv.etcd.endpoints import Endpoints
from aio_apiserver.storage.kv.etcd.newest_reads import NewestReads
from aio_apiserver.storage.kv.etcd.ranges import read_range
from aio_apiserver.storage.kv.etcd.requests import InDoubt, Requests
from aio_apiserver.storage.kv.etcd.revision import RevisionSeen
from aio_apiserver.storage.kv.etcd.token import Token
from aio_apiserver.storage.kv.etcd.unknown_outcomes import UnknownOutcomes
from aio_apiserver.storage.kv.etcd.watch_stream import EtcdWatchStream
from aio_apiserver.storage.kv.interface import MAX_VALUE_BYTES, EventBatch, GetResult, Newest, RangeResult, WriteResult

_HEALTH_SECONDS = 2.0
_FULL = "alarm:NOSPACE"
"""The alarm of a full etcd, which still reads and deletes. Servers that were not ready could not make room."""


class EtcdKV:
    """The keys of the etcd cluster in `config`. Needs a running event loop; no member has to answer yet."""

    def __init__(self, config: EtcdConfig, *, clock: Clock | None = None) -> None:
        self._clock = clock = clock or SystemClock()
        token = Token(config.login, has_alternatives=len(config.endpoints) > 1)
        self._config = config
        self._probe = rpc.RangeRequest(key=config.probe_key, count_only=True)
        self._seen = RevisionSeen()
        self._endpoints = Endpoints(config, token, self._seen, clock)
        self._requests = Requests(self._endpoints, token, clock, deadline=config.deadline)
        self._stream = EtcdWatchStream(self._endpoints, token, self._seen, clock)
        self._unknown_outcomes = UnknownOutcomes(self._requests, self._stream, self._seen)
        self._newest = NewestReads(
            self._endpoints,
            self._requests,
            token,
            clock,
            probe_key=config.probe_key,
            deadline=config.deadline,
        )
        self._is_closed = False

    @property
    def has_reliable_progress(self) -> bool:
        return self._endpoints.has_reliable_progress

    async def get(self, key: bytes, *, revision: int = 0) -> GetResult:
        response = await self._read(messages.get(key, revision))
        return GetResult(messages.record_in(response), response.header.revision)

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
        request = rpc.RangeRequest(
            key=start or b"\x00",
            range_end=max(start, end),
            limit=limit,
            revision=revision,
            keys_only=keys_only,
            count_only=count_only,
        )
        return await read_range(self._read, request)

    async def put(self, key: bytes, value: bytes, *, expected_mod_revision: int, lease: int = 0) -> WriteResult:
        if len(value) > MAX_VALUE_BYTES:
            raise TooLarge(f"value of {len(value)} bytes, at most {MAX_VALUE_BYTES} are allowed")
        request = messages.put_if(key, value, expected_mod_revision=expected_mod_revision, lease=lease)
        write = self._unknown_outcomes.begin(key, value, expected_mod_revision=expected_mod_revision, lease=lease)
        try:
            response = await self._requests.write(TXN, request)
        except InDoubt as doubt:
            return await self._unknown_outcomes.resolve(write, doubt)
        finally:
            self._unknown_outcomes.end(write)
        self._seen.note(response.header.revision)
        return messages.write_result(response)

    async def delete(self, key: bytes, *, expected_mod_revision: int) -> WriteResult:
        request = messages.delete_if(key, expected_mod_revision=expected_mod_revision)
        write = self._unknown_outcomes.begin(key, None, expected_mod_revision=expected_mod_revision)
        try:
            response = await self._requests.write(TXN, request)
        except InDoubt as doubt:
            return await self._unknown_outcomes.resolve(write, doubt)
        finally:
            self._unknown_outcomes.end(write)
        self._seen.note(response.header.revision)
        return messages.write_result(response)

    async def grant_lease(self, ttl: int) -> int:
        """Grant a lease. A repeated grant leaves at most an unused lease, which expires."""
        response = await self._requests.repeat(GRANT_LEASE, rpc.LeaseGrantRequest(TTL=ttl))
        lease: int = response.ID
        return lease

    async def revoke_lease(self, lease: int) -> None:
        await self._requests.repeat(REVOKE_LEASE, rpc.LeaseRevokeRequest(ID=lease), settled_by=LeaseNotFound)

    async def lease_seconds(self, lease: int) -> int:
        """The seconds that a lease has left; 0 when it has ended. It is for copies of the store."""
        response = await self._requests.repeat(LEASE_TIME, rpc.LeaseTimeToLiveRequest(ID=lease))
        return max(0, int(response.TTL))

    async def store_id(self) -> bytes:
        """The identity of the cluster. It is for copies of the store."""
        response = await self._requests.repeat(RANGE, self._probe)
        cluster: int = response.header.cluster_id
        return cluster.to_bytes(8, "big")

    @asynccontextmanager
    async def watch(self, start: bytes, end: bytes, *, revision: int) -> AsyncIterator[AsyncIterator[EventBatch]]:
        """Enter when etcd has confirmed the watch: no compaction comes before it. Raises Unavailable, Closed."""
        watcher = self._stream.add(start, end, revision)
        try:
            async with asyncio.timeout(self._config.deadline):
                await watcher.is_confirmed.wait()
        except TimeoutError:
            self._stream.remove(watcher)
            raise Unavailable(f"no etcd endpoint takes the watch: {self._endpoints.reasons}") from None
        try:
            yield watcher
        finally:
            self._stream.remove(watcher)

    async def request_progress(self) -> None:
        if self._is_closed:
            raise Closed("the engine was closed")
        self._stream.request_progress()

    async def current_revision(self) -> int:
        return (await self.newest(())).revision

    def known_revision(self) -> None:
        """None: other servers write to the same etcd."""

    async def newest(self, keys: Sequence[bytes]) -> Newest:
        newest = await self._newest.newest(keys)
        self._seen.note(newest.revision)
        return newest

    async def compact(self, revision: int) -> None:
        try:
            await self._requests.repeat(COMPACT, rpc.CompactionRequest(revision=revision), settled_by=Compacted)
        except (Compacted, FutureRevision) as refusal:
            raise await self._explain(refusal, revision) from None

    async def health(self) -> Health:
        if self._is_closed:
            return Health(healthy=False, reason="closed")
        try:
            await self._requests.repeat(RANGE, self._probe, seconds=_HEALTH_SECONDS, is_patient=False)
            alarms = await self._alarms()
        except StorageError as error:
            return Health(healthy=False, reason=self._located(str(error)))
        warning = "; ".join(alarm.strip() for alarm in alarms)
        return Health(healthy=all(_FULL in alarm for alarm in alarms), reason=self._located(warning))

    def statistics(self) -> Mapping[str, Any]:
        """The members that are up and down, the watch stream, and the reads, for metrics and status pages."""
        return {
            "endpoints": self._endpoints.statistics(),
            "watches": self._stream.statistics(),
            "newest": self._newest.statistics(),
        }

    async def close(self) -> None:
        self._is_closed = True
        self._requests.close()
        try:
            await self._stream.close()
        finally:
            await self._endpoints.close()

    async def database_bytes(self) -> int:
        """The size of a member's database. Raises StorageError, also when our user may not ask."""
        size: int = (await self._status()).dbSize
        return size

    def _located(self, problem: str) -> str:
        """A problem with the endpoints, unless it names one itself."""
        endpoints = self._config.endpoints
        if not problem or any(endpoint in problem for endpoint in endpoints):
            return problem
        return f"{', '.join(endpoints)}: {problem}"

    async def _alarms(self) -> Sequence[str]:
        """The alarms of a member, if our user may read them: a full disk, a corrupt database."""
        try:
            status = await self._status()
        except Unauthenticated:
            return ()
        alarms: Sequence[str] = status.errors
        return alarms

    async def _status(self) -> rpc.StatusResponse:
        return await self._requests.repeat(STATUS, rpc.StatusRequest(), seconds=_HEALTH_SECONDS, is_patient=False)

    async def _read(self, request: rpc.RangeRequest) -> rpc.RangeResponse:
        try:
            response = await self._requests.repeat(RANGE, request)
        except (Compacted, FutureRevision) as refusal:
            raise await self._explain(refusal, request.revision) from None
        self._seen.note(response.header.revision)
        return response

    async def _explain(self, refusal: StorageError, revision: int) -> StorageError:
        """The refusal, with the revision that etcd leaves out: the oldest one kept, or the present one."""
        if isinstance(refusal, FutureRevision):
            return FutureRevision(revision, await self.current_revision())
        return Compacted(revision, await self._oldest_kept(default=revision))

    async def _oldest_kept(self, *, default: int) -> int:
        """The compact revision: etcd reports it to a watch that starts below it."""
        key = self._config.probe_key
        watcher = self._stream.add(key, key + b"\x00", 1)
        try:
            async with asyncio.timeout(_HEALTH_SECONDS):
                await anext(watcher)
        except Compacted as refusal:
            return refusal.compact_revision
        except (StorageError, TimeoutError):
            pass
        finally:
            self._stream.remove(watcher)
        return default
