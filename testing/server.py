"""Server: a real API server in the process of a test, with its own port, store and thread.

    with Server() as server:
        pods = server.clients.kubernetes()

    async with Server(manifests=["deploy/crds"], controllers=("*",)) as server:
        ...

Must hold: it is the same server as in production, over a real socket with TLS. Servers of one process share no state
but their keys. After stop no thread, no socket and no file is left.
"""

import asyncio
import ssl
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack

from aio_apiserver.apiserver.server import Server as Running
from aio_apiserver.apiserver.simulated_kubelet.simulated import SimulatedFunctions
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.storage.snapshot import Snapshot
from aio_apiserver.testing import arguments, pki, reports, users
from aio_apiserver.testing import manifests as loading
from aio_apiserver.testing.bench.bench import Bench
from aio_apiserver.testing.bench.clock import MovableClock
from aio_apiserver.testing.bench.fault_kinds import Fault, FaultFields, FaultName
from aio_apiserver.testing.bench.faults import ActiveFault
from aio_apiserver.testing.bench.request_record import RequestRecord
from aio_apiserver.testing.bench.server_clock import Moment, ServerClock, epoch_of
from aio_apiserver.testing.bench.shown_arguments import shows_arguments
from aio_apiserver.testing.client import BlockingClient
from aio_apiserver.testing.client_libraries import Clients
from aio_apiserver.testing.fault_contexts import FaultContext
from aio_apiserver.testing.folders import Folder
from aio_apiserver.testing.hooks import HookHost
from aio_apiserver.testing.manifests import Manifest, Source
from aio_apiserver.testing.server_settings import ServerSettings
from aio_apiserver.testing.server_thread import ServerThread
from aio_apiserver.testing.users import User
from aio_apiserver.testing.waiting import Waiting
from aio_apiserver.testing.webhooks import Webhooks

if TYPE_CHECKING:
    from aio_apiserver.apiserver.console.timeline.history import HistoryMoment
    from aio_apiserver.testing.bench import fault_rules
else:
    fault_rules = Deferred("aio_apiserver.testing.bench.fault_rules")

T = TypeVar("T")


@shows_arguments
class Server(Waiting):
    """One server. Settings are the flags by their names in Python: `authorization_mode=("RBAC",)`.

    manifests: the objects that it has from the start, and after `reset`. snapshot: the state that it starts with. time:
    the moment at which its clock is held, until a test moves it.
    """

    def __init__(
        self,
        *,
        manifests: Source | Sequence[Source] = (),
        snapshot: Snapshot | None = None,
        time: Moment | None = None,
        **settings: Unpack[ServerSettings],
    ) -> None:
        arguments.check(settings)
        self._manifests = loading.sources_of(manifests)
        self._snapshot = snapshot
        self._new_clock: Callable[[], MovableClock] = partial(
            MovableClock, epoch_of(time) if time is not None else None
        )
        self._given: Mapping[str, Any] = {**settings}
        self._folder: Folder | None = None
        self._background: ServerThread | None = None
        self._running: Running | None = None
        self._webhooks: Webhooks | None = None
        self._finalizer: weakref.finalize[Any, Server] | None = None
        self._report_begins: HistoryMoment | None = None

    # # Start and stop

    def start(self) -> Self:
        """Start the server, and return when it is ready. Raises OSError, ValueError."""
        try:
            self._become(self._begin().result())
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop the server. It may be called twice."""
        background = self._background
        if background is None:
            return
        try:
            self._close_webhooks()
        finally:
            background.stop()
            background.join()
            self._clean_up(background)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    async def __aenter__(self) -> Self:
        try:
            running = await asyncio.shield(asyncio.wrap_future(self._begin()))
            if self._manifests:
                await asyncio.to_thread(self._become, running)
            else:
                self._become(running)
        except BaseException:
            self.stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.shield(asyncio.to_thread(self.stop))

    # # Access

    @property
    def url(self) -> str:
        return self._live.url

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig file with an administrator's credentials."""
        return self._live.settings.kubeconfig_file

    @property
    def ui(self) -> str:
        """The address of the web console, with a code that signs in once: of a server with `ui=True`."""
        console = self._live.parts.console
        if console is None:
            raise RuntimeError("the server was started without ui=True")
        return console.link(self.url)

    @property
    def ca(self) -> Path:
        """The certificate authority that signed the server's certificate."""
        return self._live.pki.ca.certificate

    @property
    def admin_token(self) -> str:
        """A bearer token of an administrator."""
        return self._live.pki.admin_token

    @property
    def tls(self) -> ssl.SSLContext:
        """A TLS context that trusts the server."""
        return ssl.create_default_context(cafile=self.ca)

    @property
    def clients(self) -> Clients:
        """Ready clients of the installed libraries."""
        return Clients(self.kubeconfig)

    def client(self) -> BlockingClient:
        """A connection for plain requests: `with server.client() as client: client.request("GET", "/version")`."""
        return BlockingClient(self._live.secure.port, self.tls, self.admin_token)

    def user(self, name: str, *groups: str) -> User:
        """A user with this name and these groups. With authorization_mode=("RBAC",) roles give the rights.

        `system:serviceaccount:NAMESPACE:NAME` gets the groups of service accounts, too.
        """
        return users.of(self._live, name, groups)

    # # State

    @property
    def simulate(self) -> SimulatedFunctions:
        """Functions that stand for commands and ports of simulated pods: `server.simulate.exec(function)`."""
        return self._live.parts.simulated

    def apply(self, *sources: Source) -> Sequence[Manifest]:
        """Apply objects: files, folders, texts of YAML, objects. Raises OSError, ValueError."""
        with self.client() as client:
            return loading.apply(client, sources)

    def snapshot(self) -> Snapshot:
        """A snapshot of the whole present state."""
        return self._call(self._bench.snapshot())

    def restore(self, snapshot: Snapshot, *, expires: bool = False) -> None:
        """Return to the state of a snapshot. Watches get the difference as events.

        With `expires` open watches also end with 410 Expired, so that clients list again.
        """
        if not isinstance(snapshot, Snapshot):
            raise TypeError(f"restore takes the result of snapshot(), not {snapshot!r}")
        self._call(self._bench.restore(snapshot, expires=expires))

    def reset(self) -> None:
        """Reset state, faults, clock and the record of requests to the start."""
        self.simulate.clear()
        self._call(self._bench.reset())
        if self._live.parts.console is not None:
            self._report_begins = self._call(self._live.parts.console.history.now())

    def set_baseline(self) -> None:
        """Make the present state the one that `reset` returns to."""
        self._call(self._bench.set_baseline())

    def fork(self) -> "Server":
        """Another server, not started, with the same settings, state and time."""
        other = Server(snapshot=self.snapshot(), **self._given)
        other._new_clock = self._bench.clock.copy().copy
        return other

    # # Time

    @property
    def clock(self) -> ServerClock:
        """The clock of the server, to hold and to move."""
        return ServerClock(self._bench.clock, self._bench.moving, self._call)

    # # Requests, faults and webhooks

    @property
    def requests(self) -> RequestRecord:
        """The requests of clients."""
        return self._bench.requests

    def fault(self, fault: Fault | FaultName, **where: Unpack[FaultFields]) -> FaultContext:
        """Inject a fault while the context is open: `with server.fault("throttle", verb="patch", count=2):`.

        `injected` of the yielded object counts how often the fault was injected. Raises ValueError.
        """
        rule, bench = fault_rules.rule(fault, where), self._bench
        bench.resources.check(rule.resource)
        return FaultContext(
            rule.fault.value,
            lambda: self._call(bench.inject(rule)),
            lambda active: self._call(bench.withdraw(active)),
        )

    def inject(self, fault: Fault | FaultName, **where: Unpack[FaultFields]) -> ActiveFault:
        """Inject a fault until `reset`, or until its count is reached. Raises ValueError."""
        return self._call(self._bench.inject(fault_rules.rule(fault, where)))

    @property
    def webhooks(self) -> Webhooks:
        """Functions of a test as webhooks."""
        if self._webhooks is None:
            host = HookHost(self._call, self._bench.catch_up, self.client, self._live.pki, self._bench.resources)
            self._webhooks = Webhooks(host)
        return self._webhooks

    def report(
        self, path: Path | str, *, title: str = "", texts: Sequence[tuple[str, str]] = (), user: str = ""
    ) -> None:
        """Write what happened since the start or the last `reset` to one HTML file. It needs `ui=True`.

        texts: titles and texts that the report shows, the failure of the test first. user: the objects that this user
        has changed come first.
        """
        console = self._live.parts.console
        if console is None:
            raise RuntimeError("a report needs a server with ui=True, which records")
        reports.write(Path(path), self._call(reports.contents(self._live, self._report_begins, title, texts, user)))

    # # Internal

    def _close_webhooks(self) -> None:
        webhooks, self._webhooks = self._webhooks, None
        if webhooks is not None:
            webhooks.close()

    @property
    def _live(self) -> Running:
        if self._running is None:
            raise RuntimeError("the server is not running")
        return self._running

    @property
    def _started(self) -> ServerThread:
        assert self._live
        assert self._background is not None
        return self._background

    @property
    def _bench(self) -> Bench:
        bench = self._live.parts.bench
        if not isinstance(bench, Bench):
            raise RuntimeError("the server was started without testing=True")
        return bench

    def _call(self, work: Coroutine[Any, Any, T]) -> T:
        return self._started.call(work)

    def _begin(self) -> "Future[Running]":
        if self._background is not None:
            raise RuntimeError("the server was started already")
        self._folder = Folder()
        directory = self._folder.path
        try:
            settings = arguments.settings_of(self._given, directory)
            pki.put(directory / "pki")
        except BaseException:
            self._folder.close()
            raise
        self._background = ServerThread(settings, self._new_clock(), self._snapshot)
        self._finalizer = weakref.finalize(self, _end, self._background, self._folder)
        self._background.start()
        return self._background.started

    def _become(self, running: Running) -> None:
        self._running = running
        if self._folder is not None and running.settings.pki_dir.is_relative_to(self._folder.path):
            pki.take(running.settings.pki_dir)  # keys in a folder of the test's own are not for other servers
        if self._manifests:
            self.apply(*self._manifests)
            if self._bench.can_restore:
                self.set_baseline()

    def _clean_up(self, background: ServerThread) -> None:
        self._background = self._running = None
        if self._finalizer is not None:
            self._finalizer.detach()
        if self._folder is not None:
            self._folder.close()
        background.ended.result()


def _end(background: ServerThread, folder: Folder) -> None:
    """Stop a server at the end of the process, when the test has not stopped it."""
    background.stop()
    background.join()
    folder.close()
