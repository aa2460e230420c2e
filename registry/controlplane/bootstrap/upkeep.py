"""Upkeep: creates kube-apiserver's own objects in their order, and runs the loops that keep them right.

`begin` runs before the server is ready. The loops run from then on until `close`. Must hold: a loop that fails logs it
and goes on. Two servers on one storage do not undo each other's work.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.errors import StatusError
from aio_apiserver.registry.controlplane.assembly import Groups
from aio_apiserver.registry.controlplane.bootstrap import (
    api_service_status,
    api_services,
    authentication_trust,
    flow_control,
    flow_schema_status,
    kubernetes_service,
    namespaces,
    priority_classes,
    rbac,
    service_cidrs,
    service_repair,
    token_tracking,
)
from aio_apiserver.registry.controlplane.bootstrap.kubernetes_service import Advertised, KubernetesService
from aio_apiserver.registry.controlplane.bootstrap.own_client import OwnClient
from aio_apiserver.registry.generic.following import Following
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.apiregistration.registrations import Registrations
from aio_apiserver.registry.groups.core.services.allocation import repair
from aio_apiserver.registry.plugins.flowcontrol.fairness import Fairness
from aio_apiserver.storage.errors import NoSpace, StorageError, Unavailable

if TYPE_CHECKING:
    from aio_apiserver.registry.plugins.simulation import resource_metrics
else:
    resource_metrics = Deferred("aio_apiserver.registry.plugins.simulation.resource_metrics")

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 1.0
_FULL_RETRY_SECONDS = 10.0
_NAMESPACES_SECONDS = 60.0
_FLOW_CONTROL_SECONDS = 60.0
_TRUST_SECONDS = 60.0
_REMOTE_SECONDS = 5.0
"""The time between two checks of the services of APIServices, which have no watch here."""
_QUIET_ROUNDS = 5
"""The number of rounds in a row that skip available APIServices."""

_UNANSWERED = (
    *(errors.Timeout, errors.ServerTimeout, errors.ServiceUnavailable, errors.TooManyRequests),
    Unavailable,
)
"""Failures of a store that may answer later."""
_FULL = (errors.StoreFull, NoSpace)
"""Failures of a store that serves reads and deletions."""

Step = Callable[[], Awaitable[None]]


class Upkeep:
    """The objects and loops of one server.

    fairness: None without priority and fairness; the conditions of flow schemas are not written then. check_remote:
    checks the servers behind APIServices. trust: the CAs and headers for extension API servers.
    """

    def __init__(
        self,
        groups: Groups,
        given: Foundation,
        fairness: Fairness | None = None,
        *,
        registrations: Registrations,
        check_remote: api_service_status.Check,
        trust: authentication_trust.Publish = authentication_trust.nothing,
    ) -> None:
        self._client = OwnClient(groups, given)
        self._given = given
        self._clock = given.clock
        self._cidrs = [str(network) for network in given.config.service_cluster_ip_ranges]
        self._service: KubernetesService | None = None
        self._definitions_changed = asyncio.Event()
        self._definitions = Following(
            self._client.storage(api_services.DEFINITIONS),
            api_services.served_versions,
            lambda _names: self._definitions_changed.set(),
        )
        self._registrations = registrations
        self._check_remote = check_remote
        self._trust = trust
        self._quiet_rounds = 0
        self._fairness = fairness
        self._repair = service_repair.repair(groups, given)
        self._tasks = Tasks()
        self._service_tasks = Tasks()

    async def begin(self, advertised: Advertised) -> None:
        """Create missing objects, and start the loops. A step is repeated while the store does not answer."""
        leases = self._given.writable_storage_for(kubernetes_service.LEASES)
        self._service = KubernetesService(self._client, leases, advertised, self._clock.patience)
        given = self._given
        await self._carry_out(self._ensure_namespaces)
        await self._carry_out(
            partial(rbac.ensure, self._client, given.minor.version, *self._simulated_roles()),
            self._ensure_flow_control,
            partial(priority_classes.ensure, self._client),
            partial(api_services.ensure_built_in, self._client, given.config.enablement, given.minor),
            partial(token_tracking.ensure, self._client, self._clock),
            self._publish_trust,
            partial(self._begin_service, self._service),
        )
        await self._carry_out(self._settle_flow_schemas, self._settle_local_api_services)
        self.follow()
        self._spawn_loops(self._service)

    def follow(self) -> None:
        """Follow flow schemas and APIServices. A worker does no more when another one keeps the objects."""
        patience = self._clock.patience
        if self._fairness is not None:
            self._spawn("follow flow schemas", self._fairness.run(patience))
        self._spawn("follow API services", self._registrations.run(patience))

    async def leave_service(self) -> None:
        """Take this server out of the service `kubernetes`, once: clients of the service go to other servers."""
        await self._service_tasks.close()
        service, self._service = self._service, None
        if service is not None:
            await self._try(service.leave)

    async def close(self) -> None:
        """End the loops, and remove this server from the service's endpoints."""
        await self._tasks.close()
        await self.leave_service()

    def _spawn_loops(self, service: KubernetesService) -> None:
        clock, patience = self._clock, self._clock.patience
        if self._fairness is not None:
            self._spawn("keep flow schemas", self._on(self._fairness.changed, self._settle_flow_schemas))
        self._spawn("follow definitions", self._definitions.run(patience))
        self._spawn("keep API services", self._on(self._registrations.changed, self._settle_api_services))
        self._spawn("keep custom API services", self._on(self._definitions_changed, self._settle_custom_api_services))
        self._spawn("look after remote API services", self._every(_REMOTE_SECONDS, self._look_after_remote, patience))
        self._spawn("keep namespaces", self._every(_NAMESPACES_SECONDS, self._ensure_namespaces, patience))
        self._spawn("keep turns", self._every(_FLOW_CONTROL_SECONDS, self._ensure_flow_control, patience))
        self._spawn("publish trust", self._every(_TRUST_SECONDS, self._publish_trust, patience))
        self._spawn("repair what services hold", self._every(repair.INTERVAL_SECONDS, self._repair.run_once, clock))
        keep_service = self._every(kubernetes_service.INTERVAL_SECONDS, service.keep, clock)
        self._service_tasks.spawn(keep_service, name="keep the service kubernetes")

    def _spawn(self, name: str, work: Coroutine[None, None, None]) -> None:
        self._tasks.spawn(work, name=name)

    async def _carry_out(self, *steps: Step) -> None:
        await asyncio.gather(*map(self._until_answered, steps))

    async def _until_answered(self, step: Step) -> None:
        """Run a step of the start, again while the store does not answer: etcd may be electing a leader.

        On a full store the server starts without the step, so that clients can delete objects. The step is repeated.
        """
        while True:
            try:
                return await step()
            except _UNANSWERED as exc:
                logger.warning("the start waits for the store: %s", exc)
            except _FULL as exc:
                logger.warning("the store is full, and the server starts all the same: %s", exc)
                return self._spawn("a step of the start", self._until_done(step))
            await self._clock.patience.sleep(_RETRY_SECONDS)

    async def _until_done(self, step: Step) -> None:
        await self._clock.patience.sleep(_FULL_RETRY_SECONDS)
        while not await self._try(step):
            await self._clock.patience.sleep(_FULL_RETRY_SECONDS)

    async def _begin_service(self, service: KubernetesService) -> None:
        await service_cidrs.ensure(self._client, self._clock, self._cidrs)
        await service.ensure_service()
        await self._try(self._repair.run_once)  # a server that came too late has given back the service's address
        await service.renew()

    async def _ensure_namespaces(self) -> None:
        await namespaces.ensure(self._client)

    async def _ensure_flow_control(self) -> None:
        await flow_control.ensure(self._client)

    async def _publish_trust(self) -> None:
        await authentication_trust.ensure(self._client, self._trust(), self._clock.patience)

    async def _settle_flow_schemas(self) -> None:
        await flow_schema_status.settle(self._client, self._clock)

    async def _settle_local_api_services(self) -> None:
        await api_service_status.settle_local(self._client, self._clock)

    async def _settle_api_services(self) -> None:
        await self._settle_local_api_services()
        if self._registrations.by_version:
            await api_service_status.settle_remote(self._client, self._clock, self._check_remote)

    async def _look_after_remote(self) -> None:
        """Check remote APIServices; less often while all are available."""
        remote = self._registrations.by_version.values()
        is_quiet = all(one.is_available for one in remote) and self._quiet_rounds < _QUIET_ROUNDS
        self._quiet_rounds = self._quiet_rounds + 1 if is_quiet else 0
        if remote and not is_quiet:
            await api_service_status.settle_remote(self._client, self._clock, self._check_remote)

    def _simulated_roles(self) -> Sequence[Object]:
        return [resource_metrics.READER] if self._given.config.simulates else ()

    async def _settle_custom_api_services(self) -> None:
        simulated = [[(resource_metrics.GROUP, resource_metrics.VERSION)]] if self._given.config.simulates else []
        await api_services.settle_custom(self._client, [*self._definitions.items.values(), *simulated])

    async def _every(self, seconds: float, step: Step, clock: Clock) -> None:
        while True:
            await clock.sleep(seconds)
            await self._try(step)

    async def _on(self, changed: asyncio.Event, step: Step) -> None:
        while True:
            await changed.wait()
            changed.clear()
            if not await self._try(step):
                await self._clock.patience.sleep(_RETRY_SECONDS)
                changed.set()

    async def _try(self, step: Step) -> bool:
        """Run a step; returns whether it succeeded."""
        try:
            await step()
        except (StatusError, StorageError) as exc:
            logger.warning("%s: %s", getattr(step, "__qualname__", step), exc)
            return False
        return True
