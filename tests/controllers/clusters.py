"""A server with controllers in this process, and a client that waits for their effects."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aio_apiserver.apiserver.server import Server
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import ControllerClient
from aio_apiserver.controllers.runtime.controller import Desk
from aio_apiserver.controllers.runtime.flow_control import FlowControl
from aio_apiserver.controllers.runtime.informers import Informers
from aio_apiserver.controllers.runtime.limits import NO_LIMIT, Limits
from aio_apiserver.registry.generic.access.users import MASTERS, UserInfo, authenticated
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from tests.apiserver import serving

Condition = Callable[[dict[str, Object]], object]
ADMIN = authenticated(UserInfo(name="admin", groups=(MASTERS,)))


@dataclass(frozen=True)
class Cluster:
    server: Server
    client: ControllerClient
    informers: Informers

    async def until(self, place: ResourcePath, is_so: Condition) -> dict[str, Object]:
        """Wait until a condition holds for the objects of a resource, which are given by key."""
        informer = self.informers.of(place)
        changed = asyncio.Event()
        informer.listen(lambda _key, _before, _after: changed.set())
        await informer.wait_until_current()
        while not is_so(dict(informer.items)):
            changed.clear()
            await changed.wait()
        return dict(informer.items)

    async def gone(self, place: ResourcePath, key: str) -> None:
        await self.until(place, lambda items: key not in items)


def desk_of(cluster: Cluster) -> Desk:
    """The parts of a controller that a test reconciles by itself."""
    server = cluster.server
    return Desk(
        cluster.client,
        cluster.informers,
        server.parts.clock,
        Limits(NO_LIMIT, 1, {}),
        server.root_certificates,
        lambda _request, _usages, _seconds: b"",
        server.parts.gateway,
        False,
    )


@asynccontextmanager
async def running(directory: Path, *controllers: str, **values: Any) -> AsyncIterator[Cluster]:
    given = {"kube_api_qps": -1.0, **values}
    async with serving.running(directory, controllers=controllers, **given) as server:
        informers = Informers(server.parts.served, server.parts.clock)
        flow = FlowControl(server.parts.limits.fairness, server.parts.limits.in_flight, server.parts.clock)
        client = ControllerClient(server.parts.served, flow, informers.expect, ADMIN, "test")
        try:
            yield Cluster(server, client, informers)
        finally:
            await informers.close()
