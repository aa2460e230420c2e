"""App: the filter chain in its order, and the routes behind it, as kube-apiserver's DefaultBuildHandlerChain.

A new path is added to `routes`, a new filter to `chain`. Before the chain there are the checks of wire/framing.py and
the start of the context in filters/entry.py.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from aio_apiserver.apiserver.access.assembly import Access
from aio_apiserver.apiserver.aggregation.gateway import Gateway
from aio_apiserver.apiserver.auditing.auditor import Auditor
from aio_apiserver.apiserver.config.settings import Settings
from aio_apiserver.apiserver.endpoints import (
    compaction,
    debugging,
    discovery,
    flow_dumps,
    health,
    index,
    metrics,
    oidc,
    openapi,
    status_pages,
    version,
)
from aio_apiserver.apiserver.extensions import ServerBench
from aio_apiserver.apiserver.filters import (
    audit,
    authentication,
    authorization,
    connection_limits,
    entry,
    errors,
    fairness,
    httplog,
    impersonation,
    max_in_flight,
    measuring,
    request_info,
    request_memory,
    sending,
)
from aio_apiserver.apiserver.filters.assembly import RequestLimits
from aio_apiserver.apiserver.handlers.resources import ResourceHandlers
from aio_apiserver.apiserver.metrics.monitoring import Monitoring
from aio_apiserver.apiserver.metrics.requests import RequestMetrics
from aio_apiserver.apiserver.outgoing.backends import Backends
from aio_apiserver.apiserver.routing import Routes, documents_or_resources
from aio_apiserver.apiserver.simulated_kubelet.simulated import SimulatedFunctions
from aio_apiserver.apiserver.wire.connections import RequestHandler
from aio_apiserver.apiserver.wire.context import Filter, compose
from aio_apiserver.apiserver.wire.paced_writing import PacedWriters
from aio_apiserver.apiserver.wire.shutdown_signal import Draining
from aio_apiserver.base.clock import Clock
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.controlplane.bootstrap.upkeep import Upkeep
from aio_apiserver.registry.controlplane.served_paths import ServedPaths
from aio_apiserver.registry.generic.access.impersonation import Impersonator
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.controller import DefinitionController
from aio_apiserver.registry.machinery.schema import builtin
from aio_apiserver.registry.plugins.flowcontrol.tickets import Ticket

if TYPE_CHECKING:
    from aio_apiserver.apiserver.console.assembly import Console
    from aio_apiserver.apiserver.filters import tracing
    from aio_apiserver.apiserver.handlers import traced_handlers
    from aio_apiserver.apiserver.tracing.tracers import Tracer
    from aio_apiserver.apiserver.workers.siblings import Siblings
else:
    tracing = Deferred("aio_apiserver.apiserver.filters.tracing")
    traced_handlers = Deferred("aio_apiserver.apiserver.handlers.traced_handlers")


class Parts(Struct, frozen=True, kw_only=True):
    """The components from which the app is built. server.py opens and closes them."""

    settings: Settings
    clock: Clock
    draining: Draining
    limits: RequestLimits
    access: Access
    storage_health: health.StorageHealth
    start_up: health.StartUp
    served: ServedPaths
    backends: Backends
    simulated: SimulatedFunctions
    gateway: Gateway
    monitoring: Monitoring
    requests: RequestMetrics
    definitions: DefinitionController
    upkeep: Upkeep
    writers: PacedWriters
    compact: Callable[[], Awaitable[int]]
    """Compacts the stores to their present revision, and returns it."""
    tracer: "Tracer | None" = None
    """None for a server that neither exports nor logs traces, and records no audit events."""
    auditor: Auditor | None = None
    """None without an audit policy."""
    bench: ServerBench | None = None
    """The test bench of a server that runs with --testing."""
    siblings: "Siblings | None" = None
    """The other workers; None for a server with one process."""
    console: "Console | None" = None
    """The web console of a server that runs with --ui."""


def routes(parts: Parts) -> Routes:
    """The handlers by path."""
    siblings = parts.siblings
    of_siblings = [health.Check("workers", siblings.probe)] if siblings is not None else []
    own, emulated = parts.settings.minor, parts.settings.emulated
    checks = health.handlers(
        parts.storage_health, parts.start_up, parts.draining, parts.monitoring.health, own.version, of_siblings
    )
    show_version = version.handler(own, emulated)
    resources = ResourceHandlers(
        parts.served,
        parts.draining,
        parts.requests,
        parts.backends,
        min_watch_seconds=parts.settings.min_request_timeout,
        in_spans=traced_handlers.traced if parts.tracer is not None else dict,
    ).handle
    documents = openapi.of(parts.served, parts.gateway.versions, builtin(own.text), parts.clock)
    oidc_documents = oidc.OIDCDocuments(parts.settings, parts.access.issuer)
    exact = {
        **checks,
        **discovery.handlers(parts.served, parts.gateway.versions, parts.monitoring.discoveries.of()),
        **documents.exact,
        **metrics.handlers(parts.monitoring, siblings.ask if siblings is not None else None),
        **oidc_documents.exact(),
        "/version": show_version,
    }
    fairness = parts.limits.fairness
    groups = discovery.GroupDocuments(parts.served, parts.gateway.versions)
    if own.is_open("ComponentFlagz"):
        exact["/flagz"] = status_pages.flagz(parts.settings)
    if own.is_open("ComponentStatusz"):
        exact["/statusz"] = status_pages.statusz(lambda: exact, parts.clock.patience, own, emulated)
    show_index = index.handler(lambda: [*exact, *groups.paths()])
    return Routes(
        exact={
            **exact,
            **debugging.exact(is_profiling=parts.settings.profiling),
            **compaction.exact(parts.compact),
            **(flow_dumps.exact(fairness, parts.clock.patience) if fairness is not None else {}),
            **(parts.console.exact() if parts.console is not None else {}),
            "/": show_index,
            "/index.html": show_index,
        },
        prefixes={
            "/version/": show_version,
            "/api/": resources,
            "/apis/": parts.gateway.before(documents_or_resources(groups.handler_of, resources)),
            **{path: parts.gateway.before_openapi(handler) for path, handler in documents.prefixes.items()},
            **debugging.prefixes(is_profiling=parts.settings.profiling),
            **oidc_documents.prefixes(),
            **(parts.bench.prefixes() if parts.bench is not None else {}),
        },
    )


def chain(parts: Parts, authenticate: Filter) -> list[Filter]:
    """The filters, outermost first."""
    settings, auditor, patience = parts.settings, parts.auditor, parts.clock.patience
    authorizer = parts.access.authorizer
    is_constrained = settings.minor.is_open("ConstrainedImpersonation")
    return [
        request_info.with_request_info,
        *([partial(httplog.with_http_logging, clock=patience)] if httplog.is_wanted(settings) else []),
        errors.with_errors,
        *([partial(audit.with_early_refusals, auditor=auditor)] if auditor is not None else []),
        partial(parts.limits.deadlines.with_deadline, on_expired=partial(parts.requests.terminated, code=504)),
        partial(sending.with_sending, draining=parts.draining),
        *_first_span(parts, "authentication"),
        authenticate,
        *([partial(tracing.with_request_span, tracer=parts.tracer)] if parts.tracer is not None else []),
        *_span(parts, "audit"),
        *([partial(audit.with_audit, auditor=auditor)] if auditor is not None else []),
        *([partial(sending.with_long_sending, draining=parts.draining)] if auditor is not None else []),
        partial(connection_limits.with_connection_limits, starts=parts.limits.watch_starts),
        *_span(parts, "constrainedimpersonation" if is_constrained else "impersonation"),
        partial(
            impersonation.with_impersonation,
            impersonator=Impersonator(
                authorizer,
                is_constrained=is_constrained,
                fails_nameless=settings.minor.version < (1, 35),
            ),
            metrics=parts.monitoring.access,
            clock=patience,
        ),
        *([parts.bench.with_recording] if parts.bench is not None else []),
        *([parts.console.with_tracing] if parts.console is not None else []),
        partial(
            request_memory.RequestMemoryFilter,
            authorize=partial(compose, _refusing(parts)),
            memory=parts.limits.memory,
            objects=parts.limits.objects,
            on_refused=partial(parts.requests.terminated, code=429),
        ),
        *_refusing(parts),
        partial(measuring.with_measuring, requests=parts.requests, clock=patience),
        *([parts.bench.with_faults] if parts.bench is not None else []),
    ]


def _refusing(parts: Parts) -> list[Filter]:
    """Flow control and authorization."""
    authorizer = parts.access.authorizer
    return [
        *_flow_control(parts),
        *_span(parts, "authorization"),
        partial(
            authorization.with_authorization,
            authorizer=authorizer if parts.tracer is None else tracing.TimedAuthorizer(authorizer),
            metrics=parts.monitoring.access,
            clock=parts.clock.patience,
        ),
    ]


def _flow_control(parts: Parts) -> list[Filter]:
    """Priority and fairness, or max in flight."""
    settings, on_refused = parts.settings, partial(parts.requests.terminated, code=429)
    if parts.limits.fairness is None:
        limited = partial(
            max_in_flight.with_max_in_flight,
            in_flight=parts.limits.in_flight,
            clock=parts.clock.patience,
            max_reading=settings.max_requests_inflight,
            max_changing=settings.max_mutating_requests_inflight,
            on_refused=on_refused,
        )
        return [limited]
    fair = partial(
        fairness.FairnessFilter,
        fairness=parts.limits.fairness,
        in_flight=parts.limits.in_flight,
        clock=parts.clock.patience,
        draining=parts.draining,
        request_seconds=settings.request_timeout,
        on_refused=on_refused,
        make_ticket=fairness.logged_ticket if httplog.is_wanted(settings) else Ticket,
    )
    timed = partial(httplog.with_execution_time, clock=parts.clock.patience)
    named = _span(parts, "priorityandfairness")
    return [*named, fair, timed] if httplog.is_wanted(settings) else [*named, fair]


def _first_span(parts: Parts, name: str) -> Sequence[Filter]:
    """The beginning of the trace of each request, where traces are exported or audit events tell its durations."""
    tracer = parts.tracer
    if tracer is None or not (tracer.exports or parts.auditor is not None):
        return []
    return [partial(tracing.with_first_span, name=name, tracer=tracer)]


def _span(parts: Parts, name: str) -> Sequence[Filter]:
    """A span around the next filter and those behind it, where traces are exported."""
    is_exported = parts.tracer is not None and parts.tracer.exports
    return [partial(tracing.with_span, name=name)] if is_exported else []


def secure(parts: Parts) -> RequestHandler:
    """The app of the secure port."""
    authenticate = partial(
        authentication.with_authentication,
        access=parts.access,
        metrics=parts.monitoring.access,
        clock=parts.clock.patience,
    )
    return _assembled(parts, authenticate if parts.console is None else parts.console.before(authenticate))


def insecure(parts: Parts) -> RequestHandler:
    """The app of the insecure port, whose clients are all administrators."""
    return _assembled(parts, authentication.with_unsecured_user)


def _assembled(parts: Parts, authenticate: Filter) -> RequestHandler:
    handler = compose(chain(parts, authenticate), routes(parts).dispatch)
    return entry.with_context(handler, parts.clock.patience)
