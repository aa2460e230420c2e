"""Server: starts and stops one API server.

    start   storage, the keys that replicas share, certificates, app, listeners, kubeconfig; ready as soon as the
            storage answers; controllers, if any, work from then on
    stop    not ready any more, out of the service `kubernetes`, delay, no new connections, streams end spread over
            time, clients leave their connections, requests finish, controllers stop, connections and storage close

Must hold: `stop` and a failed start close everything that was opened. No task and no socket outlives `stop`.
"""

import asyncio
import logging
import platform
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from aio_apiserver.apiserver import app, control_plane, extensions, renewal
from aio_apiserver.apiserver.access.assembly import Access, open_access
from aio_apiserver.apiserver.aggregation.assembly import open_aggregation
from aio_apiserver.apiserver.auditing.assembly import open_audit
from aio_apiserver.apiserver.config import logs, registry_config, storage_config
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.endpoints import metrics, version
from aio_apiserver.apiserver.endpoints.health import StartUp, StorageHealth
from aio_apiserver.apiserver.filters.assembly import open_limits
from aio_apiserver.apiserver.metrics import connections, program, reloads
from aio_apiserver.apiserver.metrics import storage as storage_metrics
from aio_apiserver.apiserver.metrics.metric_families import Measures
from aio_apiserver.apiserver.metrics.monitoring import Monitoring
from aio_apiserver.apiserver.metrics.requests import MONITORED, RequestMetrics
from aio_apiserver.apiserver.outgoing.assembly import open_outgoing
from aio_apiserver.apiserver.outgoing.backends import SIMULATED_KUBELET_CLIENT
from aio_apiserver.apiserver.replicas.shared_files import SharedFiles, open_shared_files
from aio_apiserver.apiserver.simulated_kubelet.simulated import SimulatedFunctions
from aio_apiserver.apiserver.tls import certificates, contexts
from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.apiserver.tls.contexts import ServingTLS
from aio_apiserver.apiserver.tls.reloading import Reloading
from aio_apiserver.apiserver.wire import advertising, listeners
from aio_apiserver.apiserver.wire.listeners import Listener
from aio_apiserver.apiserver.wire.local_questions import Respond
from aio_apiserver.apiserver.wire.paced_writing import PacedWriters
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.base import private_files
from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.root_certificates import RootCertificates
from aio_apiserver.registry.controlplane import gates_in_use
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.generic.resource import adapter
from aio_apiserver.registry.groups.apiextensions.conversion.service_addresses import address_finder
from aio_apiserver.registry.machinery import schema
from aio_apiserver.registry.machinery.serializers.protobuf import storage_form
from aio_apiserver.storage.factory.factory import StorageConfig, StorageFactory
from aio_apiserver.storage.snapshot import Snapshot

if TYPE_CHECKING:
    from aio_apiserver.apiserver.console import assembly as console_assembly
    from aio_apiserver.apiserver.console.assembly import Console
    from aio_apiserver.apiserver.metrics import work_queues
    from aio_apiserver.apiserver.simulated_kubelet import opening as kubelet_server
    from aio_apiserver.apiserver.tracing import assembly as tracing_assembly
    from aio_apiserver.apiserver.tracing.tracers import Tracer
    from aio_apiserver.apiserver.workers import siblings as worker_siblings
    from aio_apiserver.apiserver.workers.siblings import Siblings
    from aio_apiserver.apiserver.workers.slots import WorkerSlot
    from aio_apiserver.controllers import manager as controller_manager
    from aio_apiserver.controllers import names
    from aio_apiserver.controllers.runtime import flow_control
    from aio_apiserver.controllers.runtime import limits as controller_limits
    from aio_apiserver.simulation import cluster as simulated_cluster
else:
    console_assembly = Deferred("aio_apiserver.apiserver.console.assembly")
    work_queues = Deferred("aio_apiserver.apiserver.metrics.work_queues")
    tracing_assembly = Deferred("aio_apiserver.apiserver.tracing.assembly")
    worker_siblings = Deferred("aio_apiserver.apiserver.workers.siblings")
    controller_manager = Deferred("aio_apiserver.controllers.manager")
    names = Deferred("aio_apiserver.controllers.names")
    simulated_cluster = Deferred("aio_apiserver.simulation.cluster")
    kubelet_server = Deferred("aio_apiserver.apiserver.simulated_kubelet.opening")
    flow_control = Deferred("aio_apiserver.controllers.runtime.flow_control")
    controller_limits = Deferred("aio_apiserver.controllers.runtime.limits")

logger = logging.getLogger(__name__)

_STORAGE_PAUSE = 0.05
"""Seconds between two health checks of a storage that does not answer."""
_LOG_SECONDS = 10.0
"""Seconds between two log lines about it."""
_KEPT_SECONDS = 2.0
"""How long connections stay open behind the last watch, at most. The head of a watch has told its client before the
shutdown that the connection can carry another request.
"""


class Server(Struct, frozen=True):
    """A started server."""

    settings: Settings
    url: str
    """The address for clients on this machine."""
    pki: Pki
    secure: Listener
    insecure: Listener | None
    files: Reloading
    shared: SharedFiles | None
    """The files that are the same on all replicas; None for an embedded store."""
    root_certificates: RootCertificates
    parts: app.Parts
    _refuse_unfinished_copies: Callable[[], Awaitable[None]]
    _stack: AsyncExitStack
    _working: AsyncExitStack
    """The running controllers."""

    async def wait_until_ready(self) -> None:
        """Return when requests can be served. Raises UnfinishedCopy for a store that is half restored."""
        logged: Mapping[str, str] = {}
        quiet_until = 0.0
        while problems := await self.parts.storage_health.problems():
            if problems != logged and self.parts.clock.patience.monotonic() >= quiet_until:
                logger.warning("storage is not ready: %s", problems)
                logged, quiet_until = problems, self.parts.clock.patience.monotonic() + _LOG_SECONDS
            await self.parts.clock.patience.sleep(_STORAGE_PAUSE)
        await self._refuse_unfinished_copies()
        if self.shared is not None:
            await self.shared.wait_until_settled()
        await self.parts.definitions.wait_until_current()
        if self.is_first:
            await self.parts.upkeep.begin(advertising.advertised(self.settings, self.secure.port))
        else:
            await self._wait_for_first_worker()
        await self.parts.access.settle()
        if self.parts.bench is not None:
            await self.parts.bench.begin()
        if self.settings.simulate:
            self._show_to_simulated_kubelets()
        self.parts.start_up.is_complete = True
        if self.is_first:
            await self._start_controllers()

    async def wait_until_all_are_ready(self) -> None:
        """Return when all workers can serve requests. This one can already."""
        if self.parts.siblings is not None:
            await self.parts.siblings.wait_until_all_are_ready()

    @property
    def is_first(self) -> bool:
        """Whether this process does what one of several workers has to do for all."""
        return self.parts.siblings is None or self.parts.siblings.is_first

    async def stop(self) -> None:
        """Shut down gracefully."""
        patience = self.parts.clock.patience
        self.parts.draining.announce()
        async with self._stack, self._working:  # a step that fails closes them, too
            await asyncio.gather(
                self.parts.upkeep.leave_service(), patience.sleep(self.settings.shutdown_delay_duration)
            )
            ports = [listener for listener in (self.secure, self.insecure) if listener is not None]
            for listener in ports:
                listener.refuse_new()
            grace = self.settings.shutdown_watch_termination_grace_period
            await self.parts.draining.begin_spread(grace, patience)
            kept = min(grace, _KEPT_SECONDS)
            await asyncio.gather(*(listener.wait_until_unused(kept) for listener in ports))
            await self.parts.limits.deadlines.wait_until_idle()

    async def _wait_for_first_worker(self) -> None:
        assert self.parts.siblings is not None
        await self.parts.siblings.wait_until_first_is_ready()
        self.parts.upkeep.follow()

    async def _start_controllers(self) -> None:
        settings = self.settings
        if not settings.controllers and not settings.simulate:
            return

        limits = self.parts.limits
        workers = {name: int(getattr(settings, field)) for name, field in names.SYNCS.items()}
        manager = controller_manager.Manager(
            settings.controllers,
            self.parts.served,
            self.parts.clock,
            flow=flow_control.FlowControl(limits.fairness, limits.in_flight, self.parts.clock.patience),
            limits=controller_limits.Limits(settings.kube_api_qps, settings.kube_api_burst, workers),
            identity=_identity(settings),
            root_certificates=self.root_certificates,
            sign=partial(certificates.sign, settings.pki_dir, self.parts.clock.patience),
            aggregated=self.parts.gateway,
        )
        cluster = await self._open_cluster(manager) if settings.simulate else None
        self._working.push_async_callback(manager.close)
        manager.start(cluster)
        self.parts.monitoring.measures.ask(lambda: work_queues.families(manager.queues))
        if self.parts.bench is not None:
            await self.parts.bench.begin_with_controllers(lambda: manager.is_idle)

    def _show_to_simulated_kubelets(self) -> None:
        """Show a certificate to the kubelet of simulated nodes, which another worker may have."""
        name, patience = SIMULATED_KUBELET_CLIENT, self.parts.clock.patience
        pair = certificates.of_client(self.settings.pki_dir, name, (), patience)
        self.parts.backends.show_to_simulated_kubelets(pair)

    async def _open_cluster(self, manager: "controller_manager.Manager") -> "controller_manager.Make":
        """Start the kubelet of the simulated nodes. Returns what makes the controllers of the cluster."""
        settings, clock = self.settings, self.parts.clock
        simulation = await kubelet_server.open_simulated_kubelet(
            settings, self.pki, manager.kubelet_client(), clock, self.parts.simulated, stack=self._working
        )
        controllers = simulated_cluster.controllers  # imports it now, not when the lease is won
        return lambda desk: controllers(desk, simulation, settings.minor.git_version)


def _identity(settings: Settings) -> str:
    """The identity of this server in leases. A server that does not share its storage keeps it over restarts."""
    own = {"etcd3": str(uuid.uuid4()), "memory": "memory"}
    return f"{platform.node()}_{own.get(settings.backend) or settings.data_dir.absolute()}"


async def start(
    settings: Settings,
    *,
    clock: Clock | None = None,
    beginning: Snapshot | None = None,
    slot: "WorkerSlot | None" = None,
) -> Server:
    """Start a server. It listens when this returns. Raises OSError, ValueError or StorageError.

    beginning: the first contents of a store in memory. slot: the place of this process among several workers.
    """
    clock = clock or (extensions.bench.open_clock() if settings.testing else SystemClock())
    private_files.make_private(settings.pki_dir)
    async with AsyncExitStack() as stack:
        monitoring = Monitoring(settings.minor)
        config = storage_config.config_of(settings) if slot is None else _shared_storage(settings, slot)
        tracer = _open_tracer(settings, clock.patience, stack)
        storage = await _open_storage(
            settings,
            config,
            clock,
            beginning=beginning,
            monitoring=monitoring,
            is_traced=tracer is not None,
            stack=stack,
        )
        shared = await open_shared_files(settings, storage.shared_secrets, clock)
        pki = certificates.ensure(settings.pki_dir, contexts.hosts(settings), clock.patience)
        siblings = worker_siblings.Siblings(slot, clock.patience) if slot is not None else None
        parts = _open_parts(
            settings, pki, clock, stack, storage=storage, monitoring=monitoring, tracer=tracer, siblings=siblings
        )
        if siblings is not None:
            await siblings.answer(_responses_to_siblings(parts), stack)
        serving = ServingTLS(settings, pki)
        writers, limits = parts.writers, parts.limits
        secure = await listeners.open_secure(
            settings,
            app.secure(parts),
            serving.context,
            stack,
            limits=limits.connections,
            heads=limits.heads,
            writers=writers,
            inherited=slot.secure if slot else None,
        )
        insecure = await listeners.open_insecure(
            settings,
            app.insecure(parts),
            stack,
            heads=limits.heads,
            writers=writers,
            inherited=slot.insecure if slot else None,
        )
        url = f"https://{contexts.local_address(settings)}:{secure.port}"
        root_certificates = RootCertificates(contexts.authority(settings, pki).read_text())
        reloading = renewal.open_renewal(
            settings,
            pki,
            url=url,
            serving=serving,
            access=parts.access,
            backends=parts.backends,
            proxy_certificate=parts.gateway.certificate.reloaded,
            clock=clock,
            stack=stack,
            shared=shared,
            root_certificates=root_certificates,
        )
        return Server(
            settings,
            url,
            pki,
            secure,
            insecure,
            reloading,
            shared,
            root_certificates,
            parts,
            storage.refuse_unfinished_copies,
            stack.pop_all(),
            AsyncExitStack(),
        )


def _open_parts(
    settings: Settings,
    pki: Pki,
    clock: Clock,
    stack: AsyncExitStack,
    *,
    storage: StorageFactory,
    monitoring: Monitoring,
    tracer: "Tracer | None",
    siblings: "Siblings | None",
) -> app.Parts:
    """The components behind the ports. Each needs only earlier ones."""
    _warn_of_idle_gates(settings)
    measures, config = monitoring.measures, registry_config.config_of(settings)
    address_of = address_finder(storage.storage_for)
    out = open_outgoing(settings, config, address_of=address_of, clock=clock, metrics=monitoring.outgoing, stack=stack)
    access = open_access(settings, pki, storage.storage_for, clock, out=out, measures=measures)
    background = _open_background(access, storage, clock, stack)
    foundation = control_plane.foundation_of(
        settings, config, storage, clock, access=access, out=out, monitoring=monitoring
    )
    plane = control_plane.open_control_plane(foundation, storage, background=background, stack=stack)
    limits = open_limits(settings, storage, clock, measures=measures, stack=stack)
    aggregation = open_aggregation(settings, storage.storage_for, clock, measures=measures, stack=stack)
    upkeep = control_plane.open_upkeep(
        settings, plane, limits.fairness, access=access, aggregation=aggregation, stack=stack
    )
    return app.Parts(
        settings=settings,
        clock=clock,
        draining=Draining(),
        limits=limits,
        access=access,
        storage_health=StorageHealth(storage.health, storage.health_names, clock.patience),
        start_up=StartUp(clock.patience, grace=settings.livez_grace_period),
        served=plane.served,
        backends=out.backends,
        simulated=SimulatedFunctions(),
        gateway=aggregation.gateway,
        monitoring=monitoring,
        requests=_count_requests(settings, plane.served, measures),
        definitions=plane.definitions,
        upkeep=upkeep,
        writers=_open_writers(clock, measures, stack),
        compact=storage.compact,
        tracer=tracer,
        auditor=open_audit(settings, clock, out.webhooks, monitoring.audit, stack),
        bench=extensions.bench.open_bench(settings, storage, plane.served, clock) if settings.testing else None,
        siblings=siblings,
        console=_open_console(settings, pki, access, monitoring, storage, clock, siblings, background=background),
    )


def _open_tracer(settings: Settings, clock: Clock, stack: AsyncExitStack) -> "Tracer | None":
    """Traces that are exported, logged when they are slow, or told in audit events; None for most servers."""
    verbosity = max(settings.v, logs.ModuleLevels(settings.vmodule).of(logs.TRACE_MODULE))
    is_logged, is_audited = verbosity >= logs.TRACE_VERBOSITY, settings.audit_policy_file is not None
    if settings.tracing_config_file is None and not is_logged and not is_audited:
        return None
    return tracing_assembly.open_tracing(settings, clock, stack, verbosity=verbosity)


def _open_console(
    settings: Settings,
    pki: Pki,
    access: Access,
    monitoring: Monitoring,
    storage: StorageFactory,
    clock: Clock,
    siblings: "Siblings | None",
    *,
    background: Tasks,
) -> "Console | None":
    if not settings.has_console:
        return None
    ask = None if siblings is None else siblings.ask
    return console_assembly.open_console(pki, access, monitoring, storage, clock, ask, background=background)


def _shared_storage(settings: Settings, slot: "WorkerSlot") -> StorageConfig:
    """The storage of a worker: etcd, or the embedded store that all workers share."""
    shared_at = slot.store if settings.backend != "etcd3" else None
    return storage_config.config_of(settings, shared_at=shared_at, is_first=slot.is_first)


def _responses_to_siblings(parts: app.Parts) -> Mapping[str, Respond]:
    """The answers to the other workers."""

    async def is_ready(_argument: str) -> bytes:
        return worker_siblings.IS_READY if parts.start_up.is_complete else b""

    of_console = parts.console.responses_to_others() if parts.console is not None else {}
    return {worker_siblings.READY: is_ready, **metrics.responses_to_others(parts.monitoring), **of_console}


def _warn_of_idle_gates(settings: Settings) -> None:
    for name in gates_in_use.without_effect(settings.minor) if settings.feature_gates else ():
        logger.warning("feature gate %s has no effect on this server", name)


async def _open_storage(
    settings: Settings,
    config: StorageConfig,
    clock: Clock,
    *,
    beginning: Snapshot | None,
    monitoring: Monitoring,
    is_traced: bool,
    stack: AsyncExitStack,
) -> StorageFactory:
    """Open the storage and publish its metrics. Raises StorageError, ValueError."""
    types = schema.builtin(settings.minor.text)
    factory = StorageFactory(
        config,
        clock=clock,
        latencies=monitoring.latencies,
        beginning=beginning,
        messages=storage_form.codec_of(types),
        adapt=adapter(settings.minor, types),
        is_traced=is_traced,
    )
    storage = await stack.enter_async_context(factory)
    monitoring.measures.ask(lambda: storage_metrics.families(storage.statistics))
    if settings.encryption_provider_config is not None:
        monitoring.measures.ask(reloads.of_encryption(storage.statistics, clock))
    return storage


def _open_background(access: Access, storage: StorageFactory, clock: Clock, stack: AsyncExitStack) -> Tasks:
    """Background tasks: authorizers follow their objects, and caches are filled."""
    background = Tasks()
    stack.push_async_callback(background.close)
    for run in access.runs:
        background.spawn(run(clock.patience), name="authorization")
    background.spawn(storage.warm(), name="fill caches")
    return background


def _open_writers(clock: Clock, measures: Measures, stack: AsyncExitStack) -> PacedWriters:
    writers = PacedWriters(clock.patience)
    stack.callback(writers.close)
    measures.ask(lambda: connections.of_watches(writers.statistics()))
    return writers


def _count_requests(settings: Settings, served: ServedPaths, measures: Measures) -> RequestMetrics:
    requests = RequestMetrics(served, MONITORED)
    measures.ask(requests.families)
    measures.ask(lambda: program.versions(version.info(settings.minor, settings.emulated)))
    measures.ask(lambda: program.features(settings.minor.gates))
    return requests
