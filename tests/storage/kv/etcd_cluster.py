"""Operations on a running cluster: find its leader, cut a member off from the others, wait for a state."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import grpc.aio
from aetcd import rpc

from tests.storage.kv.etcd_server import Cluster, Member
from tests.storage.kv.tcp_proxy import TcpProxy, everybody, nobody

PATIENCE = 60.0


async def status_of(member: Member) -> rpc.StatusResponse:
    """The status of a member."""
    async with grpc.aio.insecure_channel(member.endpoint.removeprefix("http://")) as channel:
        return await rpc.MaintenanceStub(channel).Status(rpc.StatusRequest())


async def leader_of(cluster: Cluster) -> Member:
    """The leader."""
    for member in cluster.members:
        status = await status_of(member)
        if status.leader == status.header.member_id:
            return member
    raise AssertionError("nobody leads")


async def until(is_true: Callable[[], bool]) -> None:
    """Wait until the condition is true."""
    async with asyncio.timeout(PATIENCE):
        while not is_true():  # noqa: ASYNC110 - there is nobody who would tell
            await asyncio.sleep(0.01)


class PeerNetwork:
    """A cluster whose members reach each other through proxies, so that one can be cut off from the others.

    Clients reach all members all the time.
    """

    def __init__(self, cluster: Cluster, proxies: list[TcpProxy]) -> None:
        self.cluster = cluster
        self._proxies = proxies

    async def isolate(self, member: Member) -> None:
        """Cut a member off from the others, in both directions."""
        identity = f"X-Server-From: {(await status_of(member)).header.member_id:x}\r\n".encode()
        for other, proxy in zip(self.cluster.members, self._proxies, strict=True):
            proxy.admission = nobody if other is member else lambda first: identity not in first
        for proxy in self._proxies:
            proxy.disconnect()

    def heal(self) -> None:
        """Let all members reach each other again."""
        for proxy in self._proxies:
            proxy.admission = everybody


@asynccontextmanager
async def peer_network(binary: Path) -> AsyncIterator[PeerNetwork]:
    """Three members."""
    cluster = Cluster(binary=binary)
    try:
        async with AsyncExitStack() as stack:
            proxies = [await stack.enter_async_context(TcpProxy(member.peer_port)) for member in cluster.members]
            for member, proxy in zip(cluster.members, proxies, strict=True):
                member.advertised_peer_port = proxy.port
            await asyncio.to_thread(cluster.start)
            yield PeerNetwork(cluster, proxies)
    finally:
        await asyncio.to_thread(cluster.remove)
