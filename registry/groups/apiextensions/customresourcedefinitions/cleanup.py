"""Cleanup: deletes the custom resources of a definition that is being deleted, then removes its finalizer.

There is one task for each such definition. Must hold: the definition stays until all of its objects are gone. A failed
step is retried, with the store that the objects have by then: a definition may change while it is deleted. A
definition with other finalizers stays, without objects.
"""

import logging
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from aio_apiserver.base.clock import Clock
from aio_apiserver.base.tasks import Tasks
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.conditions import Condition
from aio_apiserver.registry.generic.access.users import APISERVER
from aio_apiserver.registry.generic.admission.interface import Chain
from aio_apiserver.registry.generic.options import DeleteOptions
from aio_apiserver.registry.generic.rest import Request, timestamp
from aio_apiserver.registry.generic.store.store import Store
from aio_apiserver.registry.groups.apiextensions.customresourcedefinitions.customresourcedefinitions import DEFINITIONS
from aio_apiserver.registry.groups.apiextensions.definitions import crd_conditions
from aio_apiserver.registry.groups.apiextensions.definitions.definition import CLEANUP, Definition
from aio_apiserver.storage.errors import KeyNotFound, StorageError
from aio_apiserver.storage.interface import ListOptions, Preconditions, Update
from aio_apiserver.storage.stored_object import StoredObject

logger = logging.getLogger(__name__)

_PAUSE_SECONDS = 0.5
"""The seconds between two checks for remaining objects."""
_RETRY_SECONDS = 5.0


def _terminating(status: str, reason: str, message: str) -> Condition:
    return crd_conditions.condition(crd_conditions.TERMINATING, status=status, reason=reason, message=message)


_IN_PROGRESS = _terminating("True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
_COMPLETED = _terminating("False", "InstanceDeletionCompleted", "removed all instances")
_NEVER_ESTABLISHED = _terminating("False", "NeverEstablished", "resource was never established")
_NOT_ITS_OWN = _terminating(
    "False", "OverlappingBuiltInResource", "instances overlap with built-in resources in storage"
)
_OVERLAPPING = frozenset({("apiregistration.k8s.io", "apiservices"), (DEFINITIONS.group, DEFINITIONS.plural)})
"""Names under which the server stores objects of its own. Their cleanup deletes nothing."""


class _Gone(Exception):
    """The definition does not exist any more, or a new one has its name."""


class Cleanup:
    """The cleanup tasks of one server."""

    def __init__(self, store: Store, clock: Clock, objects_of: Callable[[str], Store | None]) -> None:
        """`objects_of` returns the store for the objects of a definition; None when it has no names."""
        self._store = store
        self._objects_of = objects_of
        self._clock = clock
        self._running: set[str] = set()
        self._tasks = Tasks()

    def begin(self, definition: Definition) -> None:
        """Start a cleanup unless one is running."""
        if definition.uid not in self._running:
            self._running.add(definition.uid)
            self._tasks.spawn(self._run(definition), name=f"clean up {definition.name}")

    async def close(self) -> None:
        await self._tasks.close()

    async def _run(self, definition: Definition) -> None:
        try:
            while True:
                try:
                    await self._clean_up(definition, self._objects_of(definition.name))
                    return
                except KeyNotFound:
                    return
                except (errors.StatusError, StorageError) as exc:
                    logger.warning(
                        "deleting the custom resources of definition %s failed, retrying: %s", definition.name, exc
                    )
                    await self._clock.patience.sleep(_RETRY_SECONDS)
        except _Gone:
            pass
        finally:
            self._running.discard(definition.uid)

    async def _clean_up(self, definition: Definition, objects: Store | None) -> None:
        await self._say(definition, _IN_PROGRESS)
        if (definition.group, definition.accepted.get("plural")) in _OVERLAPPING:
            await self._finish(definition, _NOT_ITS_OWN)
            return
        if objects is None or not definition.is_established:
            await self._finish(definition, _NEVER_ESTABLISHED)
            return
        await self._delete_all(replace(objects, admission=Chain()))
        await self._finish(definition, _COMPLETED)

    async def _delete_all(self, objects: Store) -> None:
        request = Request(user=APISERVER, version=objects.kind.hub_version, warn=_ignore)
        for namespace in await _namespaces(objects, request):
            await objects.delete_collection(replace(request, namespace=namespace), DeleteOptions(), ListOptions())
        while (await objects.list(request, ListOptions(limit=1))).items:
            await self._clock.patience.sleep(_PAUSE_SECONDS)

    async def _say(self, definition: Definition, condition: Condition) -> None:
        await self._store.storage.guaranteed_update(
            definition.name, lambda current: self._with(definition, current, condition)
        )

    async def _finish(self, definition: Definition, condition: Condition) -> None:
        """Remove the finalizer. When it is the last one, delete the definition."""
        current = await self._store.storage.get(definition.name)
        if _others(_same(definition, current)):
            await self._store.storage.guaranteed_update(
                definition.name, lambda current: self._with(definition, current, condition, is_done=True)
            )
            return

        async def is_free(current: StoredObject) -> None:
            if _others(_same(definition, current)):
                raise errors.Conflict(self._store.kind.resource, definition.name, why="it got another finalizer")

        await self._store.storage.delete(
            definition.name, preconditions=Preconditions(uid=definition.uid), validate=is_free
        )

    async def _with(
        self, definition: Definition, current: StoredObject | None, condition: Condition, *, is_done: bool = False
    ) -> Update:
        crd, before = _same(definition, current), _same(definition, current)
        crd_conditions.put(crd, condition, now=timestamp(self._clock.now()))
        if is_done:
            crd["metadata"]["finalizers"] = _others(crd)
        self._store.note_own_change(before, crd, "status")
        return Update(self._store.canonical(crd))


def _same(definition: Definition, current: StoredObject | None) -> Object:
    """The present state of the definition. Raises _Gone."""
    crd = current.decode() if current is not None else None
    if crd is None or crd["metadata"].get("uid") != definition.uid:
        raise _Gone
    return crd


def _others(crd: Object) -> Sequence[str]:
    return [name for name in crd["metadata"].get("finalizers") or () if name != CLEANUP]


async def _namespaces(objects: Store, request: Request) -> Sequence[str]:
    """The namespaces that contain objects. The empty name stands for cluster-scoped objects."""
    found = await objects.list(request, ListOptions())
    return list(dict.fromkeys(item.key.rpartition("/")[0] for item in found.items))


def _ignore(_warning: str) -> None:
    """Drop warnings, since there is no client."""
