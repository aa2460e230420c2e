"""NewestReads: the newest revision of the store and of some keys in etcd, for reads that a cache then answers.

A linearizable read waits until the member has applied its log up to the present. Beside writes, that takes as long as a
write. The sole member of a cluster has applied each write before it was acknowledged, so its present state will do. Two
calls are sent at once, on the connection of an earlier linearizable read. In any order, their answers show that:

    a serializable read ──┐ the same process: its state includes that of the linearizable read, and all writes since
    a list of members ────┘ it is the sole member, at a moment after the reader has asked

A member that has restarted reads its log again, and its state may be old meanwhile. It has no connections from before.

Must hold: the answer is not older than any write that was acknowledged before the call. In doubt, a linearizable read
answers. A configuration with several endpoints has linearizable reads alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

import aio_apiserver.storage.kv.etcd.aetcd_rpc.rpc_pb2 as rpc
from aio_apiserver.base.clock import Clock
from aio_apiserver.storage.errors import NoSpace
from aio_apiserver.storage.kv.etcd import failures, messages
from aio_apiserver.storage.kv.etcd.endpoint import RANGE, READING_TXN
from aio_apiserver.storage.kv.etcd.endpoints import Endpoints
from aio_apiserver.storage.kv.etcd.http2 import Http2Connection
from aio_apiserver.storage.kv.etcd.requests import Requests
from aio_apiserver.storage.kv.etcd.token import Token
from aio_apiserver.storage.kv.interface import Newest

_PART = 0.3
"""The part of the deadline in which the sole member may answer both calls; the linearizable read has the rest."""
_AGAIN_SECONDS = 10.0
"""The least time between two attempts to use the sole member: a cluster may have more, or have restarted."""


class Standing(Struct, frozen=True, eq=False):
    """The member, connection and term of a linearizable read. The term notices a proxy that changes the process behind
    a connection: a member that has restarted has a leader in a later term.
    """

    connection: Http2Connection
    member: int
    term: int

    def is_of(self, header: rpc.ResponseHeader) -> bool:
        """Whether a response comes from the same member in the same term."""
        return bool(self.member == header.member_id and self.term == header.raft_term)


class NewestReads:
    """The reads of one engine. A serializable read of `probe_key` shows the revision when no key is named."""

    def __init__(
        self,
        endpoints: Endpoints,
        requests: Requests,
        token: Token,
        clock: Clock,
        *,
        probe_key: bytes,
        deadline: float,
    ) -> None:
        self._endpoints = endpoints
        self._requests = requests
        self._token = token
        self._clock = clock
        self._probe_key = probe_key
        self._deadline = deadline
        self._sole: Standing | None = None
        """That of a linearizable read. Whether the member is alone, each answer shows."""
        self._asks_after = float("-inf") if len(endpoints) == 1 else float("inf")
        self._counts = Counter(linearizable=0, serializable=0)

    async def newest(self, keys: Sequence[bytes]) -> Newest:
        """The revisions of the store and of the keys; of the store alone when etcd has no space left."""
        named = keys or (self._probe_key,)
        until = self._clock.monotonic() + self._deadline
        try:
            response = await self._of_sole_member(named, self._sole) if self._sole is not None else None
            if response is None:
                response = await self._linearizable(named, until)
        except NoSpace:  # etcd 3.5 refuses all transactions when its space is used up, also those that read
            return Newest(await self._revision(until), ())
        revisions = map(messages.mod_revision_in, response.responses) if keys else ()
        return Newest(response.header.revision, list(revisions))

    async def _revision(self, until: float) -> int:
        """The revision of the store alone, by a linearizable range."""
        probe = rpc.RangeRequest(key=self._probe_key, count_only=True)
        response = await self._requests.repeat(RANGE, probe, seconds=until - self._clock.monotonic())
        revision: int = response.header.revision
        return revision

    def statistics(self) -> Mapping[str, int]:
        return self._counts

    async def _linearizable(self, keys: Sequence[bytes], until: float) -> rpc.TxnResponse:
        self._counts["linearizable"] += 1
        now = self._clock.monotonic()
        connection = self._connection() if now >= self._asks_after else None
        response: rpc.TxnResponse = await self._requests.repeat(
            READING_TXN, messages.mod_revisions(keys), seconds=until - now
        )
        if connection is not None and connection is self._connection():
            self._asks_after = now + _AGAIN_SECONDS
            self._sole = Standing(connection, response.header.member_id, response.header.raft_term)
        return response

    def _connection(self) -> Http2Connection | None:
        """The connection of the next request to the only endpoint."""
        endpoint = self._endpoints.pick()
        return endpoint.connection if endpoint is not None else None

    async def _of_sole_member(self, keys: Sequence[bytes], sole: Standing) -> rpc.TxnResponse | None:
        """The state of the sole member; None when it may not be the newest."""
        endpoint = self._endpoints.pick()
        if endpoint is None or endpoint.connection is not sole.connection:
            self._sole = None
            return None
        request = messages.mod_revisions(keys, serializable=True)
        timeout, metadata = self._deadline * _PART, self._token.metadata
        try:
            response, members = await endpoint.read_with_members(request, timeout=timeout, metadata=metadata)
        except failures.GRPC_EXCEPTIONS as error:
            failures.of_exception(error)  # raises the cancellation of this task
            self._sole = None
            return None
        if not sole.is_of(response.header) or not _is_sole(response.header.member_id, members):
            self._sole = None
            return None
        self._counts["serializable"] += 1
        return response


def _is_sole(member: int, response: rpc.MemberListResponse) -> bool:
    """Whether the member is the sole one of its cluster, by its own list."""
    return response.header.member_id == member and [one.ID for one in response.members] == [member]
