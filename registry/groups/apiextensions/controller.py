"""The controller of definitions: follows them, gives them their names, and has served what they define.

It runs on every replica. What it writes is decided on the state that it replaces, so replicas that decide at the same
time decide the same. Must hold: what is served follows the definitions without waiting for anything but their watch;
a definition is served before it says that it is established.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.generic.following import Following
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Environment, timestamp
from aio_apiserver.registry.generic.store.provider import open_store
from aio_apiserver.registry.groups.apiextensions import definition, settling
from aio_apiserver.registry.groups.apiextensions.cleanup import Cleanup
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions import DEFINITIONS
from aio_apiserver.registry.groups.apiextensions.definition import Definition
from aio_apiserver.registry.groups.apiextensions.naming import TakenNames
from aio_apiserver.registry.groups.apiextensions.offers import Offer
from aio_apiserver.registry.groups.apiextensions.resources import Resources
from aio_apiserver.registry.groups.apiextensions.settling import Decide
from aio_apiserver.storage.errors import KeyNotFound, StorageError
from aio_apiserver.storage.interface import Update
from aio_apiserver.storage.stored_object import Object, StoredObject
from aio_apiserver.storage.tasks import Tasks

logger = logging.getLogger(__name__)

Publish = Callable[[str, Offer | None], None]
"""Hears what is served of a definition, by its name; None when nothing is any more."""

_RETRY_SECONDS = 1.0
_STATUS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus"
"""All that is written here: a definition of half a megabyte is not made anew for it."""


def _light(crd: Object) -> Object:
    """A definition without the bulk of its versions."""
    versions = [{"name": version["name"]} for version in crd["spec"].get("versions") or ()]
    return {**crd, "metadata": dict(crd["metadata"]), "spec": {**crd["spec"], "versions": versions}}


class _Unchanged(Exception):
    """There is nothing to write."""


def _read(stored: StoredObject) -> Definition | None:
    """A definition; None for one that cannot be served because of what is wrong with it in the store."""
    try:
        return definition.parse(stored)
    except (KeyError, TypeError, AttributeError, StopIteration, StorageError) as exc:
        logger.warning("the definition %s cannot be read: %r", stored.key, exc)
        return None


class DefinitionController:
    """Keeps definitions right, and says what they make the server serve."""

    def __init__(self, environment: Environment, resources: Resources, publish: Publish) -> None:
        self._store = open_store(DEFINITIONS, environment)
        self._status = environment.types.type_of(_STATUS)
        self._resources = resources
        self._publish = publish
        self._clock = environment.clock
        self._cleanup = Cleanup(self._store, self._clock)
        storage = environment.storage_for(resource_of(DEFINITIONS))
        self._following = Following(storage, _read, self._changed)
        self._written: dict[str, Definition] = {}
        """What was written and has not been seen yet."""
        self._offers: dict[str, Offer] = {}
        self._waiting: dict[str, None] = {}
        self._has_work = asyncio.Event()
        self._tasks = Tasks()

    def start(self) -> None:
        """Begin to follow."""
        self._tasks.spawn(self._following.run(self._clock.patience), name="follow definitions")
        self._tasks.spawn(self._work(), name="settle definitions")

    async def wait_until_current(self) -> None:
        """Return when all that was defined before is served."""
        await self._following.wait_until_current()

    async def close(self) -> None:
        await self._tasks.close()
        await self._cleanup.close()
        await self._resources.close()

    # Serving

    def _changed(self, names: Collection[str]) -> None:
        for name in names:
            present = self._newest(name)
            if present is None:
                self._let_go(name)
            else:
                self._serve(present)
        self._look_at(names)

    def _newest(self, name: str) -> Definition | None:
        """A definition as it was seen or written last."""
        seen, written = self._following.items.get(name), self._written.get(name)
        if seen is not None and written is not None and seen.revision < written.revision:
            return written
        self._written.pop(name, None)
        return seen

    def _serve(self, present: Definition) -> None:
        if not present.is_offered:
            self._withdraw(present.name)
            return
        offer = self._offers[present.name] = self._resources.offer(present)
        self._publish(present.name, offer)

    def _withdraw(self, name: str) -> None:
        if self._offers.pop(name, None) is not None:
            self._publish(name, None)

    def _let_go(self, name: str) -> None:
        """The definition is gone: its names are free for others."""
        self._withdraw(name)
        self._resources.forget(name)
        self._look_at(self._names_of(name.partition(".")[2]))

    # Settling

    def _look_at(self, names: Collection[str]) -> None:
        self._waiting.update(dict.fromkeys(names))
        self._has_work.set()

    def _names_of(self, group: str) -> list[str]:
        return [name for name, one in self._following.items.items() if one is not None and one.group == group]

    async def _work(self) -> None:
        while True:
            await self._has_work.wait()
            self._has_work.clear()
            while self._waiting:
                name = next(iter(self._waiting))
                del self._waiting[name]
                await self._settle(name)

    async def _settle(self, name: str) -> None:
        present = self._newest(name)
        if present is None:
            return
        try:
            await self._settle_names(present)
            await self._write(name, settling.structure)
            await self._write(name, settling.approval)
            await self._write(name, settling.establishing)
        except Exception as exc:  # noqa: BLE001 - one definition must not keep all others from being served
            logger.warning("cannot settle the definition %s: %r", name, exc)
            self._tasks.spawn(self._look_later(name), name=f"settle {name} later")
            return
        offer = self._offers.get(name)
        present = self._newest(name)
        if present is not None and present.needs_cleanup:
            self._cleanup.begin(present, offer.stores[present.storage_version] if offer is not None else None)

    async def _look_later(self, name: str) -> None:
        await self._clock.patience.sleep(_RETRY_SECONDS)
        self._look_at([name])

    async def _settle_names(self, present: Definition) -> None:
        group = [self._newest(name) for name in self._names_of(present.group)]
        taken = TakenNames.by(one.accepted for one in group if one is not None)
        before = present.accepted
        await self._write(present.name, settling.naming(taken))
        now = self._newest(present.name)
        if now is not None and now.accepted != before:
            others = [name for name in self._names_of(present.group) if name != present.name]
            self._look_at(others)  # a name may have become free

    async def _write(self, name: str, decide: Decide) -> None:
        """Write what is decided on a definition, if that changes anything."""
        present = self._newest(name)
        if present is None or not decide(objects.clone(present.head), ""):
            return

        async def try_update(current: StoredObject | None) -> Update:
            crd = current.decode() if current is not None else {}
            if not crd or crd["metadata"].get("uid") != present.uid or not decide(crd, timestamp(self._clock.now())):
                raise _Unchanged
            assert current is not None
            self._own(current.decode(), crd)
            crd["status"] = self._status.canonical(crd["status"])
            return Update(crd)

        with contextlib.suppress(_Unchanged, KeyNotFound):
            stored = await self._store.storage.guaranteed_update(name, try_update, suggestion=present.stored)
            self._wrote(definition.parse(stored))

    def _own(self, old: Object, crd: Object) -> None:
        """Note that the server has changed the status, without looking at the schemas for it."""
        changed = _light(crd)
        self._store.note_own_change(_light(old), changed, "status")
        crd["metadata"] = changed["metadata"]

    def _wrote(self, written: Definition) -> None:
        if written.name in self._following.items:
            self._written[written.name] = written
            self._serve(written)
