"""Controller: watches CustomResourceDefinitions, accepts their names, and publishes the resources that they define.

It runs on every replica. Each write is decided on the state that it replaces, so that replicas reach the same result.

Must hold: the served resources follow the definitions with no other delay than the watch. A definition is served before
it has the condition Established.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection

from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.generic.following import Following
from aio_apiserver.registry.generic.resource import resource_of
from aio_apiserver.registry.generic.rest import Environment, timestamp
from aio_apiserver.registry.generic.store.provider import open_store
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions import status_decisions
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.cleanup import Cleanup
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.customresourcedefinitions import DEFINITIONS
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.status_decisions import Decide
from aio_apiserver.registry.groups.apiextensions.definitions import definition
from aio_apiserver.registry.groups.apiextensions.definitions.definition import Definition
from aio_apiserver.registry.groups.apiextensions.definitions.naming import TakenNames
from aio_apiserver.registry.groups.apiextensions.serving.offer import Offer
from aio_apiserver.registry.groups.apiextensions.serving.resources import CustomResources
from aio_apiserver.storage.errors import KeyNotFound, StorageError
from aio_apiserver.storage.interface import Update
from aio_apiserver.storage.stored_object import StoredObject

logger = logging.getLogger(__name__)

Publish = Callable[[str, Offer | None], None]
"""Called with the name of a definition and the offer that it now makes; None when it is not served any more."""

_RETRY_SECONDS = 1.0
_STATUS = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionStatus"
"""The schema of the part that the controller writes. A large definition is not encoded again for a small status."""


def _light(crd: Object) -> Object:
    """A definition without the large parts of its versions."""
    versions = [{"name": version["name"]} for version in crd["spec"].get("versions") or ()]
    return {**crd, "metadata": dict(crd["metadata"]), "spec": {**crd["spec"], "versions": versions}}


class _Unchanged(Exception):
    """The decision changes nothing."""


def _read(stored: StoredObject) -> Definition | None:
    """The parsed definition; None, with a log line, when the stored object is unusable."""
    try:
        return definition.parse(stored)
    except (KeyError, TypeError, AttributeError, StopIteration, StorageError) as exc:
        logger.warning("definition %s cannot be read: %r", stored.key, exc)
        return None


class DefinitionController:
    """Accepts names, sets conditions, and publishes offers for all definitions."""

    def __init__(self, environment: Environment, resources: CustomResources, publish: Publish) -> None:
        self._store = open_store(DEFINITIONS, environment)
        self._status = environment.types.type_of(_STATUS)
        self._resources = resources
        self._publish = publish
        self._clock = environment.clock
        self._cleanup = Cleanup(self._store, self._clock, self._objects_of)
        storage = environment.storage_for(resource_of(DEFINITIONS))
        self._following = Following(storage, _read, self._changed)
        self._written: dict[str, Definition] = {}
        """The definitions that this server has written, until the watch reports them."""
        self._offers: dict[str, Offer] = {}
        self._waiting: dict[str, None] = {}
        self._has_work = asyncio.Event()
        self._tasks = Tasks()

    def start(self) -> None:
        """Start the watch and the worker."""
        self._tasks.spawn(self._following.run(self._clock.patience), name="follow definitions")
        self._tasks.spawn(self._work(), name="settle definitions")

    async def wait_until_current(self) -> None:
        """Wait until all definitions that are stored now are served."""
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
        """The newest state of a definition that this server has seen or written."""
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
        """Withdraw a deleted definition. Other definitions of its group may now get its names."""
        self._withdraw(name)
        self._resources.forget(name)
        self._look_at(self._names_of(name.partition(".")[2]))

    # Names and conditions

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
            await self._write(name, status_decisions.approval)
            await self._settle_names(present)
            await self._write(name, status_decisions.structure)
            await self._write(name, status_decisions.establishing)
        except Exception as exc:  # noqa: BLE001 - one definition must not keep all others from being served
            logger.warning("updating the status of definition %s failed, retrying: %r", name, exc)
            self._tasks.spawn(self._look_later(name), name=f"settle {name} later")
            return
        present = self._newest(name)
        if present is not None and present.needs_cleanup:
            self._cleanup.begin(present)

    def _objects_of(self, name: str) -> Store | None:
        """The store for the custom resources of a definition, served or not; None when it has no names."""
        present = self._newest(name)
        if present is None or not present.has_names:
            return None
        return self._resources.offer(present).stores[present.storage_version]

    async def _look_later(self, name: str) -> None:
        await self._clock.patience.sleep(_RETRY_SECONDS)
        self._look_at([name])

    async def _settle_names(self, present: Definition) -> None:
        group = [self._newest(name) for name in self._names_of(present.group)]
        taken = TakenNames.by(one.accepted for one in group if one is not None)
        before = present.accepted
        await self._write(present.name, status_decisions.naming(taken))
        now = self._newest(present.name)
        if now is not None and TakenNames.by([before]).has_more_than(TakenNames.by([now.accepted])):
            others = [name for name in self._names_of(present.group) if name != present.name]
            self._look_at(others)  # a name has become free

    async def _write(self, name: str, decide: Decide) -> None:
        """Write the result of `decide`, unless it changes nothing."""
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
        """Record the server as field manager of the status. The schemas are left out of the comparison."""
        changed = _light(crd)
        self._store.note_own_change(_light(old), changed, "status")
        crd["metadata"] = changed["metadata"]

    def _wrote(self, written: Definition) -> None:
        if written.name in self._following.items:
            self._written[written.name] = written
            self._serve(written)
