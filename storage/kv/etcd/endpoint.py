"""Endpoint: one member of the etcd cluster, with its channel, its calls and its state.

Knows no other member. Must hold: `calls` belong to the open channel.
"""

import operator

import grpc.aio
from aetcd import rpc
from grpc.aio import Metadata

from aio_apiserver.storage.kv.etcd import versions
from aio_apiserver.storage.kv.etcd.channel import Credentials, open_channel, open_stream
from aio_apiserver.storage.kv.etcd.config import EtcdConfig, parse_endpoint
from aio_apiserver.storage.kv.etcd.grpc_stream import GrpcStream

RANGE = operator.attrgetter("range")
TXN = operator.attrgetter("txn")
COMPACT = operator.attrgetter("compact")
GRANT_LEASE = operator.attrgetter("grant_lease")
REVOKE_LEASE = operator.attrgetter("revoke_lease")
STATUS = operator.attrgetter("status")
"""The names of the calls, for callers that have not picked a member yet."""

_WATCH = "/etcdserverpb.Watch/Watch"


class Calls:
    """The calls of aetcd's stubs that the engine uses, each looked up once."""

    __slots__ = ("authenticate", "compact", "grant_lease", "range", "revoke_lease", "status", "txn")

    def __init__(self, channel: grpc.aio.Channel) -> None:
        kv, lease = rpc.KVStub(channel), rpc.LeaseStub(channel)
        self.range = kv.Range
        self.txn = kv.Txn
        self.compact = kv.Compact
        self.grant_lease = lease.LeaseGrant
        self.revoke_lease = lease.LeaseRevoke
        self.status = rpc.MaintenanceStub(channel).Status
        self.authenticate = rpc.AuthStub(channel).Authenticate


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
        self._address = parse_endpoint(url)
        self._config = config
        self._credentials = credentials
        self._open()

    @property
    def has_reliable_progress(self) -> bool:
        """Whether the member's answers to progress requests are known to be right."""
        return self.version is not None and versions.is_progress_reliable(self.version)

    async def reconnect(self) -> None:
        """Open a new channel, with the present credentials."""
        old = self._channel
        self._open()
        await old.close()

    async def open_watch_stream(self, metadata: Metadata) -> GrpcStream:
        """A new stream of watches; it takes rpc.WatchRequest and gives rpc.WatchResponse. Raises AioRpcError."""
        return await open_stream(_WATCH, self._address, metadata, config=self._config, credentials=self._credentials)

    async def close(self) -> None:
        await self._channel.close()

    def cancel_streams(self) -> None:
        """Cancel the streams; their readers get the error at once."""
        for stream in self.streams:
            stream.cancel()

    def _open(self) -> None:
        self._channel = open_channel(self._address, self._config, self._credentials)
        self.calls = Calls(self._channel)
