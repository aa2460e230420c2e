"""Maintenance: what an operator does with the members of an etcd cluster, one by one: status, hashes, space, alarms.

It is for commands; servers use the engine. Must hold: a member that does not answer is reported with the reason, and
the others are asked all the same.
"""

import time
from collections.abc import Sequence
from typing import Any

from google.protobuf.message import Message
from msgspec import Struct

import aio_apiserver.storage.kv.etcd.aetcd_rpc.rpc_pb2 as rpc
from aio_apiserver.storage.errors import Compacted, StorageError
from aio_apiserver.storage.etcd_config import EtcdConfig
from aio_apiserver.storage.kv.etcd import failures, versions
from aio_apiserver.storage.kv.etcd.channel import Credentials
from aio_apiserver.storage.kv.etcd.endpoint import Endpoint
from aio_apiserver.storage.kv.etcd.grpc_status import RpcFailed

_SECONDS = 5.0
_DEFRAGMENT_SECONDS = 600.0
_ALL_MEMBERS = 0


class MemberStatus(Struct, frozen=True, kw_only=True):
    """The state of a member. problem: why it does not answer; the rest counts when it is empty."""

    url: str
    problem: str = ""
    version: str = ""
    size: int = 0
    used: int = 0
    revision: int = 0
    has_leader: bool = False
    is_learner: bool = False
    alarms: Sequence[str] = ()
    seconds: float = 0.0

    @property
    def has_reliable_progress(self) -> bool:
        """Whether watches of this version can be trusted to be complete at a progress notification."""
        return versions.is_progress_reliable(versions.parse(self.version))


class KeyspaceHash(Struct, frozen=True):
    """The hash of a member's keys at a revision."""

    url: str
    hash: int
    compact_revision: int


class EtcdMembers:
    """The members of a cluster that the configuration names. Needs a running event loop."""

    def __init__(self, config: EtcdConfig) -> None:
        credentials = Credentials(config.tls)
        self._members = [Endpoint(url, config, credentials) for url in config.endpoints]

    async def statuses(self) -> Sequence[MemberStatus]:
        """The state of each member. Raises nothing."""
        return [await self._status(member) for member in self._members]

    async def hashes(self, revision: int) -> Sequence[KeyspaceHash]:
        """The hash of each member at a revision; none when it was the last to be compacted. Raises StorageError."""
        request = rpc.HashKVRequest(revision=revision)
        try:
            found = [(one.url, await _call(one.calls.hash_kv, request)) for one in self._members]
        except Compacted:
            return []
        return [KeyspaceHash(url, answer.hash, answer.compact_revision) for url, answer in found]

    async def defragment(self) -> None:
        """Give free pages of each member back to its file system; it serves nothing meanwhile. Raises StorageError."""
        for member in self._members:
            await _call(member.calls.defragment, rpc.DefragmentRequest(), seconds=_DEFRAGMENT_SECONDS)

    async def disarm_no_space(self) -> bool:
        """End the alarm of a full disk. Returns whether there was one. Raises StorageError."""
        wanted = {"memberID": _ALL_MEMBERS, "alarm": rpc.NOSPACE}
        calls = self._members[0].calls
        found = await _call(calls.alarm, rpc.AlarmRequest(action=rpc.AlarmRequest.GET, **wanted))
        for one in found.alarms:
            request = rpc.AlarmRequest(action=rpc.AlarmRequest.DEACTIVATE, memberID=one.memberID, alarm=one.alarm)
            await _call(calls.alarm, request)
        return bool(found.alarms)

    async def close(self) -> None:
        for member in self._members:
            await member.close()

    async def _status(self, member: Endpoint) -> MemberStatus:
        began = time.monotonic()
        try:
            status = await _call(member.calls.status, rpc.StatusRequest())
        except StorageError as exc:
            return MemberStatus(url=member.url, problem=str(exc))
        return MemberStatus(
            url=member.url,
            version=status.version,
            size=status.dbSize,
            used=status.dbSizeInUse,
            revision=status.header.revision,
            has_leader=bool(status.leader),
            is_learner=status.isLearner,
            alarms=tuple(status.errors),
            seconds=time.monotonic() - began,
        )


async def _call(call: Any, request: Message, *, seconds: float = _SECONDS) -> Any:
    """Raises StorageError."""
    try:
        return await call(request, timeout=seconds, metadata=())
    except RpcFailed as error:
        raise failures.of_exception(error).error from error
