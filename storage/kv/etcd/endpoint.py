"""Endpoint: one member of the etcd cluster, with its calls, its watch streams and its state.

Knows no other member.
"""

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from google.protobuf.message import Message

import aio_apiserver.storage.kv.etcd.aetcd_rpc.rpc_pb2 as rpc
from aio_apiserver.base import tracing
from aio_apiserver.base.tracing import SpanKind
from aio_apiserver.storage.etcd_config import EtcdConfig, parse_endpoint
from aio_apiserver.storage.kv.etcd import versions
from aio_apiserver.storage.kv.etcd.channel import Credentials, MemberDialer
from aio_apiserver.storage.kv.etcd.grpc_calls import GrpcCalls
from aio_apiserver.storage.kv.etcd.grpc_status import Metadata
from aio_apiserver.storage.kv.etcd.grpc_stream import GrpcStream
from aio_apiserver.storage.kv.etcd.http2 import Http2Connection

RANGE = operator.attrgetter("range")
TXN = operator.attrgetter("txn")
READING_TXN = operator.attrgetter("reading_txn")
COMPACT = operator.attrgetter("compact")
GRANT_LEASE = operator.attrgetter("grant_lease")
REVOKE_LEASE = operator.attrgetter("revoke_lease")
LEASE_TIME = operator.attrgetter("lease_time")
STATUS = operator.attrgetter("status")
"""The names of the calls, for callers that have not picked a member yet."""

A = TypeVar("A", bound=Message)

_TXN = "/etcdserverpb.KV/Txn"
_MEMBERS = "/etcdserverpb.Cluster/MemberList"
_WATCH = "/etcdserverpb.Watch/Watch"
_LOCAL_LIST = rpc.MemberListRequest(linearizable=False).SerializeToString()


class UnaryCall(Generic[A]):
    """One method of a member: a request, and its response."""

    __slots__ = ("_calls", "_is_urgent", "_parse", "_path")

    def __init__(self, calls: GrpcCalls, path: str, answer: type[A], *, is_urgent: bool = False) -> None:
        self._calls = calls
        self._is_urgent = is_urgent
        self._path = path
        self._parse = answer.FromString

    async def __call__(
        self,
        request: Message | bytes,
        *,
        timeout: float,  # noqa: ASYNC109
        metadata: Metadata,
    ) -> A:
        """The response to a request, which may be encoded already. Raises RpcFailed."""
        message = request if isinstance(request, bytes) else request.SerializeToString()
        if tracing.current().headers:
            return await self._traced(message, timeout, metadata)
        data = await self._calls.call(
            self._path, message, timeout=timeout, metadata=metadata, is_urgent=self._is_urgent
        )
        return self._parse(data)

    async def _traced(self, message: bytes, seconds: float, metadata: Metadata) -> A:
        with _spanned(self._path, metadata) as fields:
            data = await self._calls.call(
                self._path, message, timeout=seconds, metadata=fields, is_urgent=self._is_urgent
            )
            return self._parse(data)


@contextmanager
def _spanned(path: str, metadata: Metadata) -> Iterator[Metadata]:
    """Make the call of a method a span of the present trace. Yields the metadata with which etcd continues it."""
    service, _, method = path.removeprefix("/").rpartition("/")
    attributes: tracing.Attributes = {"rpc.system": "grpc", "rpc.service": service, "rpc.method": method}
    with tracing.spanned(f"{service}/{method}", attributes, threshold=None, kind=SpanKind.CLIENT) as span:
        yield (*metadata, *span.headers.items())


class Calls:
    """The methods that the engine and commands use."""

    __slots__ = (
        "alarm",
        "authenticate",
        "compact",
        "defragment",
        "grant_lease",
        "hash_kv",
        "lease_time",
        "range",
        "reading_txn",
        "revoke_lease",
        "status",
        "txn",
    )

    def __init__(self, calls: GrpcCalls) -> None:
        self.range = UnaryCall(calls, "/etcdserverpb.KV/Range", rpc.RangeResponse, is_urgent=True)
        self.txn = UnaryCall(calls, _TXN, rpc.TxnResponse)
        self.reading_txn = UnaryCall(calls, _TXN, rpc.TxnResponse, is_urgent=True)
        self.compact = UnaryCall(calls, "/etcdserverpb.KV/Compact", rpc.CompactionResponse)
        self.grant_lease = UnaryCall(calls, "/etcdserverpb.Lease/LeaseGrant", rpc.LeaseGrantResponse)
        self.revoke_lease = UnaryCall(calls, "/etcdserverpb.Lease/LeaseRevoke", rpc.LeaseRevokeResponse)
        self.lease_time = UnaryCall(calls, "/etcdserverpb.Lease/LeaseTimeToLive", rpc.LeaseTimeToLiveResponse)
        self.status = UnaryCall(calls, "/etcdserverpb.Maintenance/Status", rpc.StatusResponse)
        self.hash_kv = UnaryCall(calls, "/etcdserverpb.Maintenance/HashKV", rpc.HashKVResponse)
        self.defragment = UnaryCall(calls, "/etcdserverpb.Maintenance/Defragment", rpc.DefragmentResponse)
        self.alarm = UnaryCall(calls, "/etcdserverpb.Maintenance/Alarm", rpc.AlarmResponse)
        self.authenticate = UnaryCall(calls, "/etcdserverpb.Auth/Authenticate", rpc.AuthenticateResponse)


class Endpoint:
    """One member.

    version: the server's version in its last status. reason: why it is down, for log lines; empty while it is up.

    streams: the watch streams on this member. They are cancelled when a probe finds it down, which is sooner than the
    connection's own keepalive would find it.
    """

    def __init__(self, url: str, config: EtcdConfig, credentials: Credentials) -> None:
        self.url = url
        self.version: versions.Version | None = None
        self.reason = ""
        self.streams: set[GrpcStream] = set()
        self._dialer = MemberDialer(parse_endpoint(url), config, credentials)
        self._calls = GrpcCalls(self._dialer)
        self.calls = Calls(self._calls)

    @property
    def has_reliable_progress(self) -> bool:
        """Whether the member's answers to progress requests are known to be right."""
        return self.version is not None and versions.is_progress_reliable(self.version)

    async def open_watch_stream(self, metadata: Metadata) -> GrpcStream:
        """A new stream of watches; it takes rpc.WatchRequest and gives rpc.WatchResponse. Raises RpcFailed."""
        return await self._dialer.open_stream(_WATCH, metadata)

    @property
    def connection(self) -> Http2Connection | None:
        """The connection of the next call; None when the next call opens one."""
        return self._calls.connection

    async def read_with_members(
        self,
        read: bytes,
        *,
        timeout: float,  # noqa: ASYNC109
        metadata: Metadata,
    ) -> tuple[rpc.TxnResponse, rpc.MemberListResponse]:
        """The response to a TxnRequest, and the members that this member knows meanwhile, on the present connection.
        Raises RpcFailed, also when there is no connection.
        """
        if tracing.current().headers:
            with _spanned(_TXN, metadata) as fields:
                return await self._read_with_members(read, timeout, fields)
        return await self._read_with_members(read, timeout, metadata)

    async def _read_with_members(
        self, read: bytes, seconds: float, metadata: Metadata
    ) -> tuple[rpc.TxnResponse, rpc.MemberListResponse]:
        calls = (_TXN, read), (_MEMBERS, _LOCAL_LIST)
        found, members = await self._calls.call_together(calls, timeout=seconds, metadata=metadata)
        return rpc.TxnResponse.FromString(found), rpc.MemberListResponse.FromString(members)

    async def close(self) -> None:
        await self._calls.close()

    def cancel_streams(self) -> None:
        """Cancel the streams; their readers get the error at once."""
        for stream in self.streams:
            stream.cancel()
