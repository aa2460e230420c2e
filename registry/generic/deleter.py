"""Deleter: one deletion of one object, from the request to the last state.

An object goes at once when neither grace nor finalizers hold it; otherwise it is first marked as ending, and it goes
when grace is over and the last finalizer is off. Must hold: the decision is made on the state that is replaced (the
first look only tells which road to take); admission sees that state too; a second deletion never makes grace longer.
"""

from typing import TYPE_CHECKING

from msgspec.structs import replace

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic import deletion, preparation
from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.registry.generic.options import DeleteOptions
from aio_apiserver.registry.generic.rest import Deleted, Request
from aio_apiserver.storage.interface import Preconditions, Update
from aio_apiserver.storage.stored_object import Object, StoredObject

if TYPE_CHECKING:
    from aio_apiserver.registry.generic.store import Store

_COLLECTION = "deletecollection"


class _AlreadyEnding(Exception):
    """Nothing is left to mark: the deletion is under way."""


class _GoesNow(Exception):
    """Nothing holds the object: go on to the deletion itself."""


class _Held(Exception):
    """Something holds the object that did not when it was looked at: mark it instead."""


class Deleter:
    """Runs one deletion through a Store."""

    def __init__(self, store: "Store", request: Request, name: str, options: DeleteOptions) -> None:
        self._store = store
        self._request = request
        self._name = name
        self._options = options
        self._key = store.key(request, name)
        self._stays = False
        """Whether something held the object when it was marked last."""
        self._preconditions = options.preconditions or Preconditions()

    async def run(self) -> Deleted:
        """Delete, or begin to."""
        present = await self._present()
        try:
            self._mark(present.decode())
        except _AlreadyEnding:
            return Deleted(present, is_gone=False)
        except _GoesNow:
            return await self._remove()
        return await self._begin()

    async def _present(self) -> StoredObject:
        return await self._store.interpreted(self._store.storage.get(self._key), "delete", self._name)

    async def _begin(self) -> Deleted:
        """Write the mark, then remove the object unless something still holds it."""
        is_dry_run = self._options.is_dry_run
        writing = self._store.storage.guaranteed_update(
            self._key, self._marked, preconditions=self._preconditions, dry_run=is_dry_run
        )
        try:
            marked = await self._store.interpreted(writing, "update", self._name)
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
        return Update(self._store.canonical(obj), ttl=self._store.ttl)

    def _mark(self, obj: Object) -> None:
        """Put the deletion on the object, as far as something holds it."""
        now, strategy = self._store.clock.now(), self._store.strategy
        grace = preparation.before_delete(self._store.kind, strategy, obj=obj, options=self._options, now=now)
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
        store, is_dry_run = self._store, self._options.is_dry_run
        deleting = store.storage.delete(
            self._key, preconditions=self._preconditions, validate=self._let_go, dry_run=is_dry_run
        )
        try:
            stored = await store.interpreted(deleting, "delete", self._name)
        except (_Held, _AlreadyEnding):
            return await self._begin()
        except errors.NotFound:
            # Somebody else (a kubelet, say) may have finished the deletion that this request began.
            if last_seen is None:
                raise
            stored = last_seen
        if not is_dry_run:
            await store.hooks.after_delete(stored)
        return Deleted(stored, is_gone=True)

    async def _let_go(self, current: StoredObject) -> None:
        """Whether this very state may go: somebody may have put a finalizer on it since it was looked at."""
        await self._admit(current)
        try:
            self._mark(current.decode())
        except _GoesNow:
            return
        raise _Held

    async def _admit(self, current: StoredObject) -> None:
        """Who deletes a collection names no object."""
        name = "" if self._request.verb == _COLLECTION else self._name
        attributes = self._store.attributes(
            Operation.DELETE, self._request, self._options, name=name, old=current.decode()
        )
        await self._store.admission.mutate(attributes)
        await self._store.admission.validate(attributes)
