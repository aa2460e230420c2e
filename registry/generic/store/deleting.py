"""Deleting: a DELETE of one object, and of a collection.

An object is removed at once when neither a grace period nor finalizers hold it. Otherwise it is first marked as
terminating. It is removed when the grace period is over and the last finalizer is off. Must hold: the decision is made
on the state that is replaced. The first read chooses between update and delete: the cache's object will do, and
the store is asked where that object would end the request. Admission sees the replaced state too. A second deletion
never makes the grace period longer.
"""

import asyncio
from collections.abc import Iterator

from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.yielding import in_turns
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic import preparation
from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.registry.generic.options import DeleteOptions
from aio_apiserver.registry.generic.rest import Deleted, Request
from aio_apiserver.registry.generic.store import deletion, reading, unreadable
from aio_apiserver.registry.generic.store.road import Road
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.interface import ListOptions, ListResult, Preconditions, Update
from aio_apiserver.storage.stored_object import StoredObject

_COLLECTION = "deletecollection"
_PAGE = 10_000
"""The objects that a deletion of a collection lists at once, as in kube-apiserver."""


class _AlreadyEnding(Exception):
    """Nothing is left to mark: the deletion has begun already."""


class _GoesNow(Exception):
    """Nothing holds the object: delete it."""


class _Held(Exception):
    """Since the first read, a finalizer or a grace period holds the object: mark it instead."""


class Deletion:
    """One deletion of one object."""

    def __init__(self, road: Road, request: Request, name: str, options: DeleteOptions) -> None:
        self._road = road
        self._request = request
        self._name = name
        self._options = options
        self._key = road.key(request, name)
        self._stays = False
        """Whether something held the object when it was marked last."""
        self._preconditions = options.preconditions or Preconditions()

    async def run(self) -> Deleted:
        """Delete the object, or mark it as terminating."""
        goes_now = await self._goes_now_at_hand()
        if goes_now is None:
            present = await self._present()
            try:
                goes_now = self._goes_now(present)
            except _AlreadyEnding:
                return Deleted(present, is_gone=False)
        return await (self._remove() if goes_now else self._begin())

    async def _goes_now_at_hand(self) -> bool | None:
        """Whether nothing holds the object at hand, which may be older than the store's. None when that one decides.

        The store's read of a custom resource calls its conversion webhook, as kube-apiserver's does.
        """
        if self._road.kind.is_custom:
            return None
        try:
            return self._goes_now(await self._road.storage.get(self._key, resource_version=0))
        except (_AlreadyEnding, errors.StatusError, StorageError):
            return None

    def _goes_now(self, present: StoredObject) -> bool:
        """Whether nothing holds the object. Raises _AlreadyEnding, and what refuses the deletion."""
        try:
            self._mark(present.decode())
        except _GoesNow:
            return True
        return False

    async def _present(self) -> StoredObject:
        return await self._road.interpreted(self._road.storage.get(self._key), "delete", self._name)

    async def _begin(self) -> Deleted:
        """Write the mark, then remove the object unless something still holds it."""
        is_dry_run = self._options.is_dry_run
        writing = self._road.storage.guaranteed_update(
            self._key, self._marked, preconditions=self._preconditions, dry_run=is_dry_run
        )
        try:
            marked = await self._road.interpreted(writing, "update", self._name)
        except _AlreadyEnding:
            return Deleted(await self._present(), is_gone=False)
        except _GoesNow:
            return await self._remove()
        if self._stays or is_dry_run:
            return Deleted(marked, is_gone=not self._stays)
        if self._preconditions.resource_version is not None:
            self._preconditions = replace(self._preconditions, resource_version=str(marked.revision))
            self._options = replace(self._options, preconditions=self._preconditions)
        return await self._remove(last_seen=marked)

    async def _marked(self, current: StoredObject | None) -> Update:
        assert current is not None
        await self._admit(current)
        obj = current.decode()
        self._mark(obj)
        return Update(self._road.canonical(obj), ttl=self._road.ttl)

    def _mark(self, obj: Object) -> None:
        """Mark the object as terminating, if something holds it."""
        now, strategy = self._road.clock.now(), self._road.strategy
        grace = preparation.before_delete(self._road.kind, strategy, obj=obj, options=self._options, now=now)
        if grace.is_pending:
            raise _AlreadyEnding
        metadata = obj["metadata"]
        finalizers = deletion.finalizers_for(metadata, grace.options, strategy.garbage_collection)
        if finalizers:
            metadata["finalizers"] = finalizers
        else:
            metadata.pop("finalizers", None)
        if grace.is_graceful:
            self._stays = bool(finalizers or grace.options.grace_period_seconds)
        elif finalizers:
            self._stays = True
            deletion.mark_as_deleting(metadata, now=now)
        else:
            raise _GoesNow

    async def _remove(self, *, last_seen: StoredObject | None = None) -> Deleted:
        road, is_dry_run = self._road, self._options.is_dry_run
        deleting = road.storage.delete(
            self._key, preconditions=self._preconditions, validate=self._let_go, dry_run=is_dry_run
        )
        try:
            stored = await road.interpreted(deleting, "delete", self._name)
        except (_Held, _AlreadyEnding):
            return await self._begin()
        except errors.NotFound:
            # Another client, such as a kubelet, may have finished the deletion that this request began.
            if last_seen is None:
                raise
            stored = last_seen
        if not is_dry_run:
            await road.hooks.after_delete(stored)
        return Deleted(stored, is_gone=True)

    async def _let_go(self, current: StoredObject) -> None:
        """Allow the removal of this state; another writer may have added a finalizer since the first read."""
        await self._admit(current)
        try:
            self._mark(current.decode())
        except _GoesNow:
            return
        raise _Held

    async def _admit(self, current: StoredObject) -> None:
        """Run admission for the deletion. A deletion of a collection has no name."""
        name = "" if self._request.verb == _COLLECTION else self._name
        attributes = self._road.attributes(
            Operation.DELETE, self._request, self._options, name=name, old=current.decode()
        )
        await self._road.admission.mutate(attributes)
        await self._road.admission.validate(attributes)


async def delete(road: Road, request: Request, name: str, options: DeleteOptions) -> Deleted:
    """Raises NotFound, Conflict, Invalid."""
    if unreadable.is_wanted(road, options):
        return await unreadable.delete(road, request, name, options)
    road.strategy.check_delete(name)
    _warn(road, request, options)
    return await Deletion(road, request, name, options).run()


async def delete_collection(road: Road, request: Request, options: DeleteOptions, selected: ListOptions) -> ListResult:
    """Delete the selected objects, and return them as they were before. After a failure the others stay deleted.

    As in kube-apiserver, the objects are listed in pages, and the first page is of exactly the version that is asked
    for, if there is one. Raises BadRequest for objects of all namespaces.
    """
    unreadable.refuse_collection(road, options)
    _warn(road, request, options)
    result = page = await reading.list_(road, request, replace(selected, limit=selected.limit or _PAGE))
    items = list(page.items)
    await _delete_page(road, request, options, page)
    if selected.limit:
        return result
    while page.continue_token:
        following = ListOptions(predicate=selected.predicate, limit=_PAGE, continue_token=page.continue_token)
        page = await reading.list_(road, request, following)
        items.extend(page.items)
        await _delete_page(road, request, options, page)
    return replace(result, items=items, continue_token="", remaining=None)


async def _delete_page(road: Road, request: Request, options: DeleteOptions, page: ListResult) -> None:
    remaining = iter(page.items)
    workers = min(max(road.config.delete_collection_workers, 1), len(page.items))
    if workers == 1:
        await _delete_each(road, request, options, remaining)
        return
    ended = await asyncio.gather(
        *(_delete_each(road, request, options, remaining) for _ in range(workers)), return_exceptions=True
    )
    for failure in ended:
        if failure is not None:
            raise failure


async def _delete_each(road: Road, request: Request, options: DeleteOptions, remaining: Iterator[StoredObject]) -> None:
    """One worker: it ends at its first failure, while the others continue."""
    async for item in in_turns(remaining):
        _, _, name = item.key.rpartition("/")
        try:
            await Deletion(road, request, name, options).run()
        except errors.NotFound:
            continue


def _warn(road: Road, request: Request, options: DeleteOptions) -> None:
    for warning in road.strategy.warnings_on_delete(options):
        request.warn(warning)
