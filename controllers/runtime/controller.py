"""Controller: the loop of all controllers: a change puts a key into the queue, and `reconcile` acts on the key.

A controller lists its resources in `begin` and acts in `reconcile`. Must hold: `reconcile` sees all earlier writes of
controllers, unless its controller keeps account of them itself. A failing key stops no other key. At the start, the
keys of all objects are reconciled.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct

from aio_apiserver.base import worker_thread
from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.unstructured import Object
from aio_apiserver.controllers.runtime.client import ControllerClient
from aio_apiserver.controllers.runtime.informers import Informer, Informers
from aio_apiserver.controllers.runtime.limits import Limits
from aio_apiserver.controllers.runtime.rate_limiter import RateLimiter
from aio_apiserver.controllers.runtime.recorder import Recorder
from aio_apiserver.controllers.runtime.work_queue import WorkQueue
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.root_certificates import RootCertificates
from aio_apiserver.registry.generic.access.users import service_account_groups, service_account_name
from aio_apiserver.registry.generic.aggregated import AggregatedServers
from aio_apiserver.registry.generic.in_process_client import ResourcePath
from aio_apiserver.registry.generic.rest import timestamp
from aio_apiserver.storage.errors import StorageError

logger = logging.getLogger(__name__)

MANAGER = "kube-controller-manager"
"""The field manager of controllers."""
_NAMESPACE = "kube-system"

_BYTES_OF_AN_OBJECT = 128
"""The estimated cost of one object in a pure computation, as bytes to decode."""
_REST, _LONGEST_REST_SECONDS = 3.0, 1.0
"""The pause after such work, as a multiple of its duration, so that thousands of changes become few computations."""

Keys = Callable[[Object], str]
T = TypeVar("T")


class NotYet(Exception):
    """Something else has to happen first, without a notification: reconcile again soon."""


def if_same(known: Object, change: Callable[[Object], bool | None]) -> Callable[[Object], bool | None]:
    """A change that was decided on a known state. It raises NotYet when another client has changed the object since."""

    def changed(present: Object) -> bool | None:
        if present["metadata"]["resourceVersion"] != known["metadata"]["resourceVersion"]:
            raise NotYet
        return change(present)

    return changed


Sign = Callable[[bytes, Sequence[str], float], bytes]
"""Signs a certificate request in PEM for some usages and seconds; the certificate is PEM, too."""


class Desk(Struct, frozen=True):
    """The parts that controllers share. is_simulated: whether the cluster of this server is simulated."""

    client: ControllerClient
    informers: Informers
    clock: Clock
    limits: Limits
    root_certificates: RootCertificates
    sign: Sign
    aggregated: AggregatedServers
    is_simulated: bool

    def now(self) -> str:
        return timestamp(self.clock.now())


class Controller:
    """One loop. Subclasses set a name, a service account, and the component of their events."""

    name = ""
    account = ""
    component = ""
    workers = 5
    """The number of workers, unless the limits have one for this controller."""
    qps_factor = burst_factor = 1
    """The factors of the rate limit that kube-controller-manager gives this controller."""
    longest_retry_pause = 1.0
    """The longest pause between two tries of a key that is not ready."""
    longest_start: float | None = None
    """The longest wait in seconds for the first state of the followed resources. Without it, there is no limit."""
    waits_for_writes = True
    """Whether `reconcile` has to see all earlier writes of controllers."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.client = desk.client.acting_as(
            service_account_name(_NAMESPACE, self.account or self.name),
            *service_account_groups(_NAMESPACE),
            manager=MANAGER,
        ).limited(self._limiter())
        self._tasks = Tasks()
        self._has_begun = False
        self.recorder = Recorder(lambda: self.client, desk.clock, self._tasks, self.component or self.name)
        self.queue = WorkQueue(desk.clock, self._tasks)
        self._followed: list[Informer] = []

    def begin(self) -> None:
        """Follow the resources."""
        raise NotImplementedError

    async def reconcile(self, key: str) -> float | None:
        """Act on one key. Returns the seconds after which to reconcile again when time alone changes something."""
        raise NotImplementedError

    @property
    def is_idle(self) -> bool:
        """Whether all known work of this loop is done."""
        return self._has_begun and self.queue.is_idle and self.recorder.is_idle

    def act_as(self, name: str, *groups: str, manager: str) -> None:
        """Work as another user."""
        self.client = self.client.acting_as(name, *groups, manager=manager)

    async def work(self, work: Callable[[], T], objects: int) -> T:
        """The result of pure work on so many objects. With many objects, it runs in the worker thread, and a pause
        follows.
        """
        size, patience = objects * _BYTES_OF_AN_OBJECT, self.desk.clock.patience
        began = patience.monotonic()
        result = await worker_thread.run_sized(work, size, self.client.user.name)
        if size >= worker_thread.LONG:
            await patience.sleep(min(_REST * (patience.monotonic() - began), _LONGEST_REST_SECONDS))
        return result

    def _limiter(self) -> RateLimiter:
        limits = self.desk.limits
        return RateLimiter(limits.qps * self.qps_factor, limits.burst * self.burst_factor, self.desk.clock.patience)

    def follow(self, place: ResourcePath, *keys: Callable[[Object], str]) -> Informer:
        """Follow a resource. Each of `keys` returns a queue key, or an empty one, for an object before and after a
        change.
        """
        informer = self.desk.informers.of(place)
        self._followed.append(informer)
        if keys:
            informer.listen(lambda _key, before, after: self._look(keys, before, after))
        return informer

    def _look(self, keys: tuple[Keys, ...], *objects: Object | None) -> None:
        for obj in objects:
            for key_for in keys if obj is not None else ():
                assert obj is not None
                if key := key_for(obj):
                    self.queue.add(key)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            self.begin()
            await self._wait_for_informers()
            for number in range(1, self.desk.limits.workers.get(self.name, self.workers)):
                self._tasks.spawn(self._work(), name=f"{self.name} {number}")
            self._has_begun = True
            await self._work()
        finally:
            await self._tasks.close()

    async def _wait_for_informers(self) -> None:
        """Return when every followed resource was read once, or after `longest_start`."""
        if self.longest_start is None:
            await self._read_all()
            return
        reading = self._tasks.spawn(self._read_all(), name=f"{self.name} reads")
        waiting = self._tasks.spawn(self.desk.clock.patience.sleep(self.longest_start), name=f"{self.name} waits")
        await asyncio.wait((reading, waiting), return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if reading.cancel():
            logger.warning("%s: begins before every resource could be read", self.name)

    async def _read_all(self) -> None:
        for informer in tuple(self._followed):
            await informer.wait_until_current()

    async def _work(self) -> None:
        while True:
            key = await self.queue.take()
            try:
                await self._try(key)
            finally:
                self.queue.done(key)

    async def _try(self, key: str) -> None:
        if self.waits_for_writes:
            await self.desk.informers.caught_up()
        try:
            again = await self.reconcile(key)
        except NotYet:
            self.queue.retry(key, at_most=self.longest_retry_pause)
        except (errors.StatusError, StorageError) as exc:
            logger.info("%s: cannot reconcile %s, retrying: %s", self.name, key, exc)
            self.queue.retry(key)
        except Exception:
            logger.exception("%s: reconciling %s failed", self.name, key)
            self.queue.retry(key)
        else:
            self.queue.forget(key)
            if again is not None:
                self.queue.add_after(key, again)
