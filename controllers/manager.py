"""Manager: runs the controllers of a server from its readiness to its stop.

Must hold: among several servers, the holder of a lease runs them. Controllers and simulation have a lease each. After
`close` no task is left.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.controllers import names
from aio_apiserver.controllers.catalog import CONTROLLERS
from aio_apiserver.controllers.runtime.client import ControllerClient
from aio_apiserver.controllers.runtime.controller import MANAGER, Controller, Desk, Sign
from aio_apiserver.controllers.runtime.election import Election
from aio_apiserver.controllers.runtime.flow_control import FlowControl
from aio_apiserver.controllers.runtime.informers import Informers
from aio_apiserver.controllers.runtime.limits import NO_LIMIT, Limits
from aio_apiserver.controllers.runtime.work_queue import WorkQueue
from aio_apiserver.registry.base.root_certificates import RootCertificates
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.generic.access.users import UserInfo, authenticated
from aio_apiserver.registry.generic.aggregated import AggregatedServers
from aio_apiserver.registry.generic.in_process_client import ResourcePath

Make = Callable[[Desk], Sequence[Controller]]
"""Makes controllers, which run while this server holds their lease."""
_SIMULATION = "aio-apiserver-simulation"
"""The lease of the simulated cluster, which may also run beside a kube-controller-manager."""
_OF_A_CLUSTER = Limits(NO_LIMIT, 1, {})
"""The limits of the simulated kubelets and scheduler: no rate limit, one worker."""
_KUBELET = UserInfo(name="system:node-simulator", groups=("system:nodes",))
_USER = UserInfo(name="system:kube-controller-manager")


def _expect_nothing(_place: ResourcePath, _key: str, _revision: int, _may_be_gone: bool) -> None:
    """The writes of clients without informers."""


class Manager:
    """The controllers of one server. Its identity is unique."""

    def __init__(
        self,
        given: Sequence[str],
        served: ServedPaths,
        clock: Clock,
        *,
        flow: FlowControl,
        limits: Limits,
        identity: str,
        root_certificates: RootCertificates,
        sign: Sign,
        aggregated: AggregatedServers,
    ) -> None:
        self._names = names.enabled(given)
        self._served = served
        self._flow = flow
        self._limits = limits
        self._clock = clock
        self._identity = identity
        self._root_certificates = root_certificates
        self._sign = sign
        self._aggregated = aggregated
        self._is_simulated = False
        self._elections: list[Election] = []
        self._leading: list[Controller] = []
        self._tasks = Tasks()

    @property
    def is_idle(self) -> bool:
        """Whether all work that is known is done."""
        return all(one.has_tried for one in self._elections) and all(one.is_idle for one in self._leading)

    @property
    def queues(self) -> Mapping[str, WorkQueue]:
        """The work queues of the running controllers, by name."""
        return {one.name: one.queue for one in self._leading}

    def kubelet_client(self) -> ControllerClient:
        """The client of the simulated kubelets' server."""
        user = authenticated(_KUBELET)
        return ControllerClient(self._served, self._flow.apart(), _expect_nothing, user, "kubelet")

    def start(self, cluster: Make | None = None) -> None:
        """Run the controllers as soon as this server has their lease, and those of a simulated cluster, if any."""
        self._is_simulated = cluster is not None
        if self._names:
            self._run(MANAGER, lambda desk: [CONTROLLERS[name](desk) for name in self._names], self._limits)
        if cluster is not None:
            self._run(_SIMULATION, cluster, _OF_A_CLUSTER)

    async def close(self) -> None:
        await self._tasks.close()

    def _run(self, name: str, make: Make, limits: Limits) -> None:
        """Run controllers while this server holds the lease of that name."""
        user = authenticated(_USER)
        client = ControllerClient(self._served, self._flow.apart(), _expect_nothing, user, MANAGER)
        election = Election(client, self._clock, name=name, identity=self._identity)
        self._elections.append(election)
        self._tasks.spawn(election.run(lambda: self._lead(make, limits)), name=name)

    async def _lead(self, make: Make, limits: Limits) -> None:
        """Run all controllers until cancelled."""
        informers = Informers(self._served, self._clock)
        client = ControllerClient(self._served, self._flow, informers.expect, authenticated(_USER), MANAGER)
        desk = Desk(
            client,
            informers,
            self._clock,
            limits,
            self._root_certificates,
            self._sign,
            self._aggregated,
            self._is_simulated,
        )
        controllers = make(desk)
        self._leading.extend(controllers)
        try:
            async with asyncio.TaskGroup() as group:
                for controller in controllers:
                    group.create_task(controller.run(), name=controller.name)
        finally:
            for controller in controllers:
                self._leading.remove(controller)
            await informers.close()
