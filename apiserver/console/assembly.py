"""assembly: the console of one server, built from its parts."""

from collections.abc import Mapping

from msgspec import Struct

from aio_apiserver.apiserver.access.assembly import Access
from aio_apiserver.apiserver.console import ended_sessions
from aio_apiserver.apiserver.console.ended_sessions import EndedSessions
from aio_apiserver.apiserver.console.front import HOME, ConsoleFront
from aio_apiserver.apiserver.console.one_time_codes import OneTimeCodes
from aio_apiserver.apiserver.console.report_endpoint import REPORT, ReportEndpoint
from aio_apiserver.apiserver.console.session_endpoints import SessionEndpoints
from aio_apiserver.apiserver.console.sessions import MARK, ConsoleSessions
from aio_apiserver.apiserver.console.signed_in_reads import of_signed_in_users
from aio_apiserver.apiserver.console.statistics.metrics_history import MetricsHistory
from aio_apiserver.apiserver.console.statistics_endpoint import STATISTICS, StatisticsEndpoint
from aio_apiserver.apiserver.console.timeline.history import ServerHistory
from aio_apiserver.apiserver.console.timeline.kubernetes_events import KubernetesEvents
from aio_apiserver.apiserver.console.timeline.request_trace import RequestTrace
from aio_apiserver.apiserver.console.timeline.worker_requests import WorkerRequests
from aio_apiserver.apiserver.console.timeline_endpoints import OF_OBJECT, TIMELINE, TimelineEndpoints
from aio_apiserver.apiserver.metrics.monitoring import Monitoring
from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.apiserver.wire.context import Filter, Handler
from aio_apiserver.apiserver.wire.local_questions import AskOthers, Respond
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.storage.factory.factory import StorageFactory


class Console(Struct, frozen=True):
    """The console. codes: those of its one-time links. history: what its timeline shows."""

    front: ConsoleFront
    codes: OneTimeCodes
    trace: RequestTrace
    history: ServerHistory
    report: ReportEndpoint
    statistics: MetricsHistory

    def before(self, authenticate: Filter) -> Filter:
        """The filter in the place of `authenticate`."""
        return self.front.before(authenticate)

    def with_tracing(self, handler: Handler) -> Handler:
        """The filter that records requests for the timeline."""
        return self.trace.with_tracing(handler)

    def responses_to_others(self) -> Mapping[str, Respond]:
        """The answers to the questions of other workers."""
        return self.history.requests.responses_to_others()

    def exact(self) -> Mapping[str, Handler]:
        """The handlers by path, behind authentication and authorization."""
        timeline = TimelineEndpoints(self.history)
        handlers = {
            TIMELINE: timeline.events,
            OF_OBJECT: timeline.object,
            REPORT: self.report.handle,
            STATISTICS: StatisticsEndpoint(self.statistics).handle,
        }
        return {path: of_signed_in_users(handler) for path, handler in handlers.items()}

    def link(self, url: str) -> str:
        """The address of the console, with a code by which an administrator signs in once.

        The code is in the fragment, which browsers do not send to the server.
        """
        return f"{url}{HOME}#code={self.codes.new_code()}"


def open_console(
    pki: Pki,
    access: Access,
    monitoring: Monitoring,
    storage: StorageFactory,
    clock: Clock,
    ask_others: AskOthers | None,
    *,
    background: Tasks,
) -> Console:
    """The console of a server with --ui. ask_others: asks the other workers; None without any."""
    ended = EndedSessions(storage.storage_for(ended_sessions.PLACE))
    sessions, codes = ConsoleSessions(pki.ca.key, ended, clock.patience.now), OneTimeCodes(clock.patience.monotonic)
    endpoints = SessionEndpoints(sessions, codes, pki.admin_token)
    statistics = MetricsHistory(monitoring.measures.families, clock.patience)
    background.spawn(statistics.run(), name="statistics of the console")
    trace = RequestTrace(clock.patience, MARK)
    events = KubernetesEvents(storage, background, clock.patience)
    history = ServerHistory(WorkerRequests(trace, ask_others), events, storage, clock)
    front = ConsoleFront(sessions, endpoints, access.tokens, metrics=monitoring.access, clock=clock.patience)
    return Console(front, codes, trace, history, ReportEndpoint(history, pki.admin_tokens), statistics)
