"""assembly: the console of one server, built from its parts."""

from msgspec import Struct

from aio_apiserver.apiserver.access.assembly import Access
from aio_apiserver.apiserver.console.front import HOME, ConsoleFront
from aio_apiserver.apiserver.console.one_time_codes import OneTimeCodes
from aio_apiserver.apiserver.console.session_endpoints import SessionEndpoints
from aio_apiserver.apiserver.console.sessions import ConsoleSessions
from aio_apiserver.apiserver.metrics.access import AccessMetrics
from aio_apiserver.apiserver.tls.certificates import Pki
from aio_apiserver.apiserver.wire.context import Filter
from aio_apiserver.storage.clock import Clock


class Console(Struct, frozen=True):
    """The console. codes: those of its one-time links."""

    front: ConsoleFront
    codes: OneTimeCodes

    def before(self, authenticate: Filter) -> Filter:
        """The filter in the place of `authenticate`."""
        return self.front.before(authenticate)

    def link(self, url: str) -> str:
        """The address of the console, with a code by which an administrator signs in once.

        The code is in the fragment, which browsers do not send to the server.
        """
        return f"{url}{HOME}#code={self.codes.new_code()}"


def open_console(pki: Pki, access: Access, metrics: AccessMetrics, clock: Clock) -> Console:
    """The console of a server with --ui."""
    sessions, codes = ConsoleSessions(pki.ca.key, clock.patience.now), OneTimeCodes(clock.patience.monotonic)
    endpoints = SessionEndpoints(sessions, codes, pki.admin_token)
    return Console(ConsoleFront(sessions, endpoints, access.tokens, metrics=metrics, clock=clock.patience), codes)
