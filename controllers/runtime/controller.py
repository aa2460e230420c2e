"""Controller: the loop that all controllers are: something changes, its key is looked at, and what is missing is done.

A controller says in `begin` what it follows and in `reconcile` what it does about one key. Must hold: `reconcile` sees
what was written before it; one key that fails stops no other; everything is looked at when the loop begins.
"""

import logging
from collections.abc import Callable
from typing import TypeVar

from msgspec import Struct

from aio_apiserver.controllers.runtime.client import Client, Place
from aio_apiserver.controllers.runtime.informers import Informer, Informers
from aio_apiserver.controllers.runtime.limits import Limits
from aio_apiserver.controllers.runtime.rate_limiter import RateLimiter
from aio_apiserver.controllers.runtime.recorder import Recorder
from aio_apiserver.controllers.runtime.work_queue import WorkQueue
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.access.users import service_account_groups, service_account_name
from aio_apiserver.registry.generic.rest import timestamp
from aio_apiserver.storage import worker_thread
from aio_apiserver.storage.clock import Clock
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.stored_object import Object
from aio_apiserver.storage.tasks import Tasks

logger = logging.getLogger(__name__)

MANAGER = "kube-controller-manager"
"""The field manager of what controllers write."""
_NAMESPACE = "kube-system"

_BYTES_OF_AN_OBJECT = 128
"""What the look of a controller at an object costs, as decoding so many bytes would."""
_REST, _LONGEST_REST_SECONDS = 3.0, 1.0
"""How many times as long as such work a controller rests behind it: thousands of changes become a few looks."""

Keys = Callable[[Object], str]
T = TypeVar("T")


class NotYet(Exception):
    """Something has to happen first that nobody tells of: look again soon."""


class Desk(Struct, frozen=True):
    """What every controller works with. `authority`: the certificates that clients check the server with."""

    client: Client
    informers: Informers
    clock: Clock
    limits: Limits
    authority: str = ""

    def now(self) -> str:
        return timestamp(self.clock.now())


class Controller:
    """One loop. Subclasses have a name, the service account as which they work, and how their events call them."""

    name = ""
    account = ""
    component = ""
    workers = 5
    """How many keys are looked at side by side, unless the limits say something of this controller."""
    qps_factor = burst_factor = 1
    """How much more than others it may ask for, as far as kube-controller-manager lets it."""
    most_seconds_between_tries = 1.0
    """Between two looks at what is not ready yet."""

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
        """Follow what there is to follow."""
        raise NotImplementedError

    async def reconcile(self, key: str) -> float | None:
        """Do what is missing about a key; the seconds after which to look again, if time alone changes something."""
        raise NotImplementedError

    @property
    def is_idle(self) -> bool:
        """Whether everything is done that there was to do, as far as this loop has heard."""
        return self._has_begun and self.queue.is_idle and self.recorder.is_idle

    def act_as(self, name: str, *groups: str, manager: str) -> None:
        """Work as somebody else."""
        self.client = self.client.acting_as(name, *groups, manager=manager)

    async def work(self, work: Callable[[], T], objects: int) -> T:
        """What pure work on so many objects returns. On many, it runs in the worker thread, and a rest follows it."""
        size, patience = objects * _BYTES_OF_AN_OBJECT, self.desk.clock.patience
        began = patience.monotonic()
        result = await worker_thread.run_sized(work, size, self.client.user.name)
        if size >= worker_thread.LONG:
            await patience.sleep(min(_REST * (patience.monotonic() - began), _LONGEST_REST_SECONDS))
        return result

    def _limiter(self) -> RateLimiter:
        limits = self.desk.limits
        return RateLimiter(limits.qps * self.qps_factor, limits.burst * self.burst_factor, self.desk.clock.patience)

    def follow(self, place: Place, *keys: Callable[[Object], str]) -> Informer:
        """Follow a resource; each of `keys` names a key to look at (or none) for an object, before and after."""
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
            for informer in self._followed:
                await informer.wait_until_current()
            for number in range(1, self.desk.limits.workers.get(self.name, self.workers)):
                self._tasks.spawn(self._work(), name=f"{self.name} {number}")
            self._has_begun = True
            await self._work()
        finally:
            await self._tasks.close()

    async def _work(self) -> None:
        while True:
            key = await self.queue.take()
            try:
                await self._try(key)
            finally:
                self.queue.done(key)

    async def _try(self, key: str) -> None:
        await self.desk.informers.caught_up()
        try:
            again = await self.reconcile(key)
        except NotYet:
            self.queue.retry(key, at_most=self.most_seconds_between_tries)
        except (errors.StatusError, StorageError) as exc:
            logger.info("%s: %s has to be tried again: %s", self.name, key, exc)
            self.queue.retry(key)
        except Exception:
            logger.exception("%s: cannot look after %s", self.name, key)
            self.queue.retry(key)
        else:
            self.queue.forget(key)
            if again is not None:
                self.queue.add_after(key, again)
