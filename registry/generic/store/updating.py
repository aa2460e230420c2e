"""Updating: an object changed inside storage's compare-and-set, tried again after each conflict.

Must hold: every decision is made on the state that is replaced. An attempt releases its allocations before the next one
begins. A dry run takes the same steps and stops before the write.
"""

from functools import partial

from msgspec.structs import replace

from aio_apiserver.base import worker_thread
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.worker_thread import LONG
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.registry.generic.hooks import Taken
from aio_apiserver.registry.generic.options import CreateOptions, UpdateOptions
from aio_apiserver.registry.generic.rest import Made, Request, Updated, UpdatedObject
from aio_apiserver.registry.generic.store import deletion
from aio_apiserver.registry.generic.store.attempts import Attempt, CreateByUpdateAttempt, UpdateAttempt
from aio_apiserver.registry.generic.store.road import Road
from aio_apiserver.storage.interface import Preconditions, Update
from aio_apiserver.storage.stored_object import StoredObject


class _EmptiedFinalizers(Exception):
    """An update removed the last finalizer of a terminating object: delete it instead of writing."""

    def __init__(self, obj: Object) -> None:
        super().__init__()
        self.obj = obj


class Modification:
    """One update of one object."""

    def __init__(
        self,
        road: Road,
        request: Request,
        name: str,
        updated: UpdatedObject,
        options: UpdateOptions,
        *,
        may_create: bool,
    ) -> None:
        self._road = road
        self._request = request
        self._name = name
        self._updated = updated
        self._options = options
        self._may_create = may_create
        self._key = road.key(request, name)
        self._preconditions = updated.preconditions or Preconditions()
        self._taken = Taken()
        self._last: Attempt | None = None
        self._keeps_owners = True
        """Whether the managed fields are written: an object that is too large is stored without them."""

    async def run(self) -> Updated:
        """Raises NotFound, Conflict, Invalid."""
        try:
            stored = await self._write()
        except _EmptiedFinalizers as exc:
            return await self._remove(exc.obj)
        except errors.RequestEntityTooLarge:
            if self._last is None or self._last.owners_known:
                raise
            self._keeps_owners = False
            stored = await self._write()
        return Updated(stored, is_created=self._last is not None and self._last.old is None)

    async def _write(self) -> StoredObject:
        writing = self._road.storage.guaranteed_update(
            self._key,
            self._try,
            ignore_not_found=self._may_create,
            preconditions=self._preconditions,
            dry_run=self._options.is_dry_run,
        )
        return await self._taken.around(self._road.interpreted(writing, "update", self._name))

    async def _try(self, current: StoredObject | None) -> Update:
        await self._taken.give_back()
        if current is None and not self._may_create:
            raise errors.NotFound(self._road.kind.resource, self._name)
        made = await self._updated.make(current)
        attempt = self._last = self._creation(made) if current is None else self._change(made, current)
        await attempt.admit()
        await attempt.ready()
        new, old = attempt.obj, attempt.old
        if old is not None and self._ends(new, old):
            raise _EmptiedFinalizers(new)
        if not self._keeps_owners:
            new["metadata"].pop("managedFields", None)
        if attempt.size < LONG:
            canonical = self._road.canonical(new)
        else:
            canonical = await worker_thread.run(partial(self._road.canonical, new), self._request.user.name)
        return Update(canonical, ttl=self._road.ttl)

    def _ends(self, new: Object, old: Object) -> bool:
        return deletion.ends_with(new["metadata"], old["metadata"]) and not self._road.strategy.is_held(new)

    def _creation(self, made: Made) -> Attempt:
        given = self._options
        options = CreateOptions(
            dry_run=given.dry_run, field_manager=given.field_manager, field_validation=given.field_validation
        )
        request = replace(self._request, empties=made.empties)
        return CreateByUpdateAttempt(
            road=self._road,
            request=request,
            attributes=self._road.attributes(Operation.CREATE, request, options, name=self._name, obj=made.obj),
            options=options,
            taken=self._taken,
            obj=made.obj,
            size=request.size,
            owners_known=made.owners_known,
        )

    def _change(self, made: Made, current: StoredObject) -> Attempt:
        request, old = replace(self._request, empties=made.empties), current.decode()
        return UpdateAttempt(
            road=self._road,
            request=request,
            attributes=self._road.attributes(
                Operation.UPDATE, request, self._options, name=self._name, obj=made.obj, old=old
            ),
            options=self._options,
            taken=self._taken,
            obj=made.obj,
            old=old,
            size=max(request.size, len(current.json)),
            owners_known=made.owners_known,
        )

    async def _remove(self, obj: Object) -> Updated:
        """Delete the object; the client sees the object that it sent."""
        road, is_dry_run = self._road, self._options.is_dry_run
        deleting = road.storage.delete(self._key, preconditions=self._preconditions, dry_run=is_dry_run)
        shown = Updated(road.storage.stored(self._key, road.canonical(obj)))
        try:
            stored = await road.interpreted(deleting, "delete", self._name)
        except errors.NotFound:
            return shown
        if not is_dry_run:
            await road.hooks.after_delete(stored)
        return shown
