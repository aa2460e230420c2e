"""The server's life, in the order in which it happens.

    start   certificates, storage, app, listeners, kubeconfig; ready as soon as the storage answers
            controllers, if any, work from then on
    stop    not ready any more, delay, no new connections, streams end, requests finish, controllers stop, connections
            and storage close

Must hold: what was started is stopped, whatever fails between; nothing outlives `stop`, no task and no socket.
"""

import logging
import socket
import ssl
import uuid
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from aio_apiserver.apiserver import app, renewal
from aio_apiserver.apiserver.access import assembly as access
from aio_apiserver.apiserver.aggregation.gateway import Gateway
from aio_apiserver.apiserver.auditing.assembly import open_audit
from aio_apiserver.apiserver.config import advertising, registry_config, storage_config
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.endpoints.health import StartUp, StorageHealth
from aio_apiserver.apiserver.filters.deadlines import Deadlines
from aio_apiserver.apiserver.handlers import served
from aio_apiserver.apiserver.handlers.served import ServedPaths
from aio_apiserver.apiserver.metrics import aggregation, program, reloads
from aio_apiserver.apiserver.metrics import storage as storage_metrics
from aio_apiserver.apiserver.metrics.flow_control import FlowControlMetrics
from aio_apiserver.apiserver.metrics.monitoring import Monitoring
from aio_apiserver.apiserver.metrics.requests import MONITORED, RequestMetrics
from aio_apiserver.apiserver.outgoing import webhook_credentials
from aio_apiserver.apiserver.outgoing.backends import Backends
from aio_apiserver.apiserver.outgoing.client import Outgoing
from aio_apiserver.apiserver.outgoing.webhook_client import WebhookClient
from aio_apiserver.apiserver.tls import certificates, contexts
from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.apiserver.tls.contexts import ServingTLS
from aio_apiserver.apiserver.tls.reloading import Reloading
from aio_apiserver.apiserver.wire.listeners import Listener
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.registry.base import gates as feature_gates
from aio_apiserver.registry.base.gates import Gates
from aio_apiserver.registry.controlplane import assembly
from aio_apiserver.registry.controlplane.assembly import assemble, environment_of
from aio_apiserver.registry.controlplane.bootstrap.upkeep import Upkeep
from aio_apiserver.registry.generic.provider import resource_of
from aio_apiserver.registry.generic.rest import Foundation
from aio_apiserver.registry.groups.apiextensions.controller import Controller
from aio_apiserver.registry.groups.apiextensions.resources import Resources
from aio_apiserver.registry.groups.apiextensions.service_addresses import address_finder
from aio_apiserver.registry.groups.apiregistration.apiservices import APISERVICES
from aio_apiserver.registry.groups.apiregistration.registrations import Registrations
from aio_apiserver.registry.groups.apiregistration.resolving import Resolver
from aio_apiserver.registry.groups.discovery.endpointslices import ENDPOINTSLICES
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.plugins.flowcontrol.estimates import Sizes
from aio_apiserver.registry.plugins.flowcontrol.fairness import Fairness
from aio_apiserver.registry.plugins.flowcontrol.occupancy import InFlight
from aio_apiserver.storage.clock import Clock, SystemClock
from aio_apiserver.storage.factory.factory import StorageFactory
from aio_apiserver.storage.kv.snapshot import Snapshot
from aio_apiserver.storage.tasks import Tasks

if TYPE_CHECKING:
    from aio_apiserver.apiserver.bench.bench import Bench

logger = logging.getLogger(__name__)

_STREAM_GRACE = 0.25
"""Seconds that streams have to end by themselves when the server stops."""
_STORAGE_PAUSE = 0.05
"""Seconds between two looks at a storage that is not there yet."""
_LOOPBACK = "127.0.0.1"


class Server(Struct, frozen=True):
    """A server that has been started."""

    settings: Settings
    url: str
    """Where clients on this machine find it."""
    pki: Pki
    secure: Listener
    insecure: Listener | None
    files: Reloading
    parts: app.Parts
    _stack: AsyncExitStack
    _working: AsyncExitStack
    """The controllers, while they run."""

    async def wait_until_ready(self) -> None:
        """Return when requests can be served."""
        told: Mapping[str, str] = {}
        while problems := await self.parts.storage_health.problems():
            if problems != told:
                logger.warning("storage is not ready: %s", problems)
            told = problems
            await self.parts.clock.patience.sleep(_STORAGE_PAUSE)
        await self.parts.definitions.wait_until_current()
        await self.parts.upkeep.begin(advertising.advertised(self.settings, self.secure.port))
        await self.parts.access.settle()
        if self.parts.bench is not None:
            await self.parts.bench.begin()
        self.parts.start_up.is_complete = True
        await self._start_controllers()

    async def stop(self) -> None:
        """End everything, gracefully."""
        self.parts.draining.announce()
        await self.parts.clock.patience.sleep(self.settings.shutdown_delay_duration)
        for listener in filter(None, (self.secure, self.insecure)):
            listener.stop_accepting()
        self.parts.draining.begin()
        await self.parts.deadlines.wait_until_idle()
        await self._working.aclose()
        await self._stack.aclose()

    async def _start_controllers(self) -> None:
        settings = self.settings
        if not settings.controllers and not settings.simulate:
            return
        from aio_apiserver.apiserver.metrics import work_queues
        from aio_apiserver.controllers import names  # a server without controllers does without their code
        from aio_apiserver.controllers.flow_control import FlowControl
        from aio_apiserver.controllers.limits import Limits
        from aio_apiserver.controllers.manager import Manager

        workers = {name: int(getattr(settings, field)) for name, field in names.SYNCS.items()}
        manager = Manager(
            settings.controllers,
            self.parts.served,
            self.parts.clock,
            flow=FlowControl(self.parts.fairness, self.parts.in_flight, self.parts.clock.patience),
            limits=Limits(settings.kube_api_qps, settings.kube_api_burst, workers),
            identity=_identity(settings),
            authority=contexts.authority(settings, self.pki).read_text(),
            simulated_nodes=settings.simulate_nodes if settings.simulate else None,
        )
        self._working.push_async_callback(manager.close)
        manager.start()
        self.parts.monitoring.measures.ask(lambda: work_queues.families(manager.queues))
        if self.parts.bench is not None:
            await self.parts.bench.begin_with_controllers(lambda: manager.is_idle)


def _identity(settings: Settings) -> str:
    """Who this server is among those with the same storage: who has it for himself is the same after each start."""
    own = {"etcd3": str(uuid.uuid4()), "memory": "memory"}
    return f"{socket.gethostname()}_{own.get(settings.backend) or settings.data_dir.absolute()}"


async def start(settings: Settings, *, clock: Clock | None = None, beginning: Snapshot | None = None) -> Server:
    """Start a server; it listens when this returns. Raises OSError, ValueError or StorageError when it cannot.

    beginning: what a store in memory holds from the start.
    """
    clock = clock or _clock(settings)
    pki = certificates.ensure(settings.pki_dir, contexts.hosts(settings), clock.patience)
    async with AsyncExitStack() as stack:
        parts = await _parts(settings, pki, clock, stack, beginning)
        serving = ServingTLS(settings, pki)
        secure, insecure = await _listen(parts, serving.context, stack)
        url = f"https://{contexts.local_address(settings)}:{secure.port}"
        renewal.write_kubeconfig(settings, pki, url)
        certificates_in_use = renewal.reloaded(settings, pki, url, serving, parts.access.certified)
        for_kubelets = renewal.reloaded_for_kubelets(settings, parts.backends)
        files = Reloading([certificates_in_use, *for_kubelets, *parts.access.reloaded], clock.patience)
        tasks = Tasks()
        stack.push_async_callback(tasks.close)
        tasks.spawn(files.run(), name="reload files")
        tasks.spawn(renewal.run(settings, url, files, clock.patience), name="certificate renewal")
        return Server(settings, url, pki, secure, insecure, files, parts, stack.pop_all(), AsyncExitStack())


def _clock(settings: Settings) -> Clock:
    """The system's; of a server for testing, one that can be held."""
    if not settings.testing:
        return SystemClock()
    from aio_apiserver.apiserver.bench.clock import MovableClock

    return MovableClock()


async def _parts(
    settings: Settings, pki: Pki, clock: Clock, stack: AsyncExitStack, beginning: Snapshot | None
) -> app.Parts:
    types = schema.builtin()
    gates = _gates(settings)
    monitoring = Monitoring()
    factory = StorageFactory(
        storage_config.config_of(settings), clock=clock, latencies=monitoring.latencies, beginning=beginning
    )
    storage = await stack.enter_async_context(factory)
    deadlines = Deadlines(clock.patience, timeout=settings.request_timeout)
    stack.push_async_callback(deadlines.close)
    out = Outgoing(clock.patience)
    stack.push_async_callback(out.close)
    may = access.open_access(settings, pki, storage.storage_for, clock, out=out, measures=monitoring.measures)
    config = registry_config.config_of(settings)
    credentials = webhook_credentials.load(config.admission_configuration)
    find_address = address_finder(storage.storage_for)
    call_webhook = WebhookClient(find_address, clock.patience, credentials=credentials, metrics=monitoring.outgoing)
    stack.push_async_callback(call_webhook.close)
    foundation = Foundation(
        storage_for=storage.storage_for,
        clock=clock,
        types=types,
        config=config,
        admission_metrics=monitoring.admission,
        allocation_metrics=monitoring.allocation,
        authorizer=may.authorizer,
        tokens=may.tokens,
        issuer=may.issuer,
        call_webhook=call_webhook,
        open_webhook=out.open_webhook,
    )
    environment = environment_of(foundation)
    groups = assemble(environment)
    resources = served.index(assembly.served(groups, config.enablement), types, clock)
    definitions = Controller(environment, Resources(environment, storage.retire, call_webhook), resources.publish)
    stack.push_async_callback(definitions.close)
    definitions.start()
    backends = Backends(settings)
    stack.push_async_callback(backends.close)
    background = Tasks()
    stack.push_async_callback(background.close)
    fairness = _fairness(settings, storage, clock, gates=gates, stack=stack)
    registrations = Registrations(storage.storage_for(resource_of(APISERVICES)))
    resolver = Resolver(storage.storage_for, slices=ENDPOINTSLICES, uses_endpoints=settings.enable_aggregator_routing)
    tells_uid = gates.is_open("RemoteRequestHeaderUID")
    gateway = Gateway(settings, registrations, resolver, clock.patience, tells_uid=tells_uid)
    stack.push_async_callback(gateway.close)
    upkeep = Upkeep(
        groups,
        foundation,
        fairness,
        registrations=registrations,
        check_remote=gateway.check,
        trust=lambda: access.published(settings, may.certified),
    )
    stack.push_async_callback(upkeep.close)
    for run in may.runs:
        background.spawn(run(clock.patience), name="authorization")
    for run in environment.runs:
        background.spawn(run(clock.patience), name="admission")
    background.spawn(storage.warm(), name="fill caches")
    requests = RequestMetrics(resources, MONITORED)
    monitoring.measures.ask(requests.families)
    monitoring.measures.ask(lambda: program.versions(settings.emulated))
    monitoring.measures.ask(lambda: program.features(gates))
    in_flight = InFlight(clock.patience.monotonic())
    monitoring.measures.ask(FlowControlMetrics(in_flight, fairness, clock.patience).families)
    monitoring.measures.ask(lambda: aggregation.families(registrations))
    monitoring.measures.ask(lambda: storage_metrics.families(storage.statistics))
    if settings.encryption_provider_config is not None:
        monitoring.measures.ask(reloads.of_encryption(storage.statistics, clock))
    return app.Parts(
        settings=settings,
        clock=clock,
        draining=Draining(),
        deadlines=deadlines,
        in_flight=in_flight,
        fairness=fairness,
        access=may,
        storage_health=StorageHealth(storage.health, storage.health_names, clock.patience),
        start_up=StartUp(),
        served=resources,
        backends=backends,
        gateway=gateway,
        monitoring=monitoring,
        requests=requests,
        definitions=definitions,
        upkeep=upkeep,
        auditor=open_audit(settings, clock, monitoring.audit, stack),
        bench=_bench(settings, storage, resources, clock),
    )


def _gates(settings: Settings) -> Gates:
    gates = Gates(feature_gates.parse(settings.feature_gates), settings.emulated)
    for name in gates.idle:
        logger.warning("feature gate %s has no effect on this server", name)
    return gates


def _sizes(told: Mapping[str, Any]) -> Sizes | None:
    """What statistics say of objects; those of uncached ones say nothing."""
    if "bytes" not in told:
        return None
    objects = int(told["objects"])
    return Sizes(objects, told["bytes"] / objects if objects else 0.0)


def _fairness(
    settings: Settings, storage: StorageFactory, clock: Clock, *, gates: Gates, stack: AsyncExitStack
) -> Fairness | None:
    if not settings.enable_priority_and_fairness:
        return None
    fairness = Fairness(
        storage.storage_for,
        clock.patience,
        seats=settings.max_requests_inflight + settings.max_mutating_requests_inflight,
        sizes_of=lambda group, resource: _sizes(storage.statistics_of(group, resource)),
        weighs_bytes=gates.is_open("SizeBasedListCostEstimate"),
    )
    stack.push_async_callback(fairness.close)
    return fairness


def _bench(settings: Settings, storage: StorageFactory, resources: ServedPaths, clock: Clock) -> "Bench | None":
    if not settings.testing:
        return None
    from aio_apiserver.apiserver.bench import bench, rules  # a server that serves does without their code
    from aio_apiserver.apiserver.bench.clock import MovableClock

    if not isinstance(clock, MovableClock):
        raise ValueError("a server for testing needs a clock that can be held")
    given = rules.read(settings.testing_faults) if settings.testing_faults is not None else ()
    return bench.Bench(storage, resources, clock, rules=given)


async def _listen(parts: app.Parts, context: ssl.SSLContext, stack: AsyncExitStack) -> tuple[Listener, Listener | None]:
    settings = parts.settings
    secure = await Listener.open(
        app.secure(parts),
        settings.bind_address,
        settings.secure_port,
        tls=context,
        is_shared=settings.permit_port_sharing,
    )
    stack.push_async_callback(secure.close, _STREAM_GRACE)
    logger.info("Serving securely on %s:%d", settings.bind_address, secure.port)
    if not settings.insecure_port:
        return secure, None
    insecure = await Listener.open(app.insecure(parts), _LOOPBACK, settings.insecure_port, tls=None)
    stack.push_async_callback(insecure.close, _STREAM_GRACE)
    logger.warning("Serving WITHOUT authentication or authorization on %s:%d", _LOOPBACK, insecure.port)
    return secure, insecure
