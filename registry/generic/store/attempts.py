"""Attempts: one try of a write, from the client's object to one that can be stored.

The order of every create and of every update is `Attempt.admit`, then `Attempt.ready`:

    admit    namespace of the URL, field owners, mutating admission
    ready    complete (system fields, or the form and resource version of an update), begin hooks, check hook,
             prepare (strategy, rules of the kind and of all metadata), validating admission

A create with generateName runs `admit` once and `ready` for each name. Must hold: nothing is stored here.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base import worker_thread
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.worker_thread import LONG, TakesLong
from aio_apiserver.registry.base import errors, owner_references
from aio_apiserver.registry.base.names import GroupKind
from aio_apiserver.registry.base.validation import field as fields
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.generic import error_history, preparation, rest, url_names
from aio_apiserver.registry.generic.access.authorizer import Attributes as Question
from aio_apiserver.registry.generic.access.refusals import forbidden
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.generic.hooks import Taken, Transaction
from aio_apiserver.registry.generic.options import WriteOptions
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.generic.store.road import Road
from aio_apiserver.registry.generic.strategy import StrategyContext
from aio_apiserver.registry.machinery.patch.apply import after_admission, times


class Attempt(Struct, frozen=True, kw_only=True):
    """One try. taken: the allocations of its write. size: the size of its objects in bytes, by which long work is told.

    owners_known: whether the managed fields include the write already.
    """

    road: Road
    request: Request
    attributes: Attributes
    options: WriteOptions
    taken: Taken
    obj: Object
    old: Object | None = None
    size: int = 0
    owners_known: bool = False

    async def admit(self) -> None:
        """Let the client own its fields, and let mutating admission change the object."""
        url_names.settle_namespace(self.obj, self.request, self.road.kind)
        if not self.owners_known:
            await self.road.track(self.request, self.old, self.obj, self.options, size=self.size)
        metadata, warn = self.obj["metadata"], self.attributes.warn
        entries = metadata.get("managedFields")
        await self.road.admission.mutate(self.attributes)
        after_admission.settle_managed_fields(metadata, entries, warn)
        owner_references.drop_duplicates(metadata, warn, is_after_admission=True)

    async def ready(self) -> None:
        """Complete, validate and admit the object; the write follows."""
        await self.complete()
        if (begun := self.begun()) is not None:
            await self.taken.take(begun)
        context = self.road.context(self.request)
        if (check := self.road.hooks.check) is not None:
            found = await check(self.request, self.road.subresource, self.obj, self.old)
            context = replace(context, found=found)
        await self.prepare(context)
        await self.validate()

    async def complete(self) -> None:
        """Set the fields that the server knows."""
        raise NotImplementedError

    def begun(self) -> Awaitable[Transaction] | None:
        """The hook that allocates for the write."""
        raise NotImplementedError

    async def prepare(self, context: StrategyContext) -> None:
        """Run the strategy and the validation. Raises Invalid."""
        raise NotImplementedError

    async def validate(self) -> None:
        """Run validating admission."""
        await self.road.admission.validate(self.attributes)

    async def _prepare(self, prepare: Callable[..., None], context: StrategyContext) -> None:
        """Run the strategy and the validation, in the worker thread if that takes long."""
        road = self.road
        prepare = partial(prepare, road.kind, road.strategy, request=self.request)
        if self.size < LONG and not road.strategy.takes_long:
            try:
                prepare(context=context)
            except TakesLong:
                pass
            else:
                return
        long = partial(prepare, context=replace(context, may_take_long=True))
        await worker_thread.run(long, self.request.user.name)


class CreateAttempt(Attempt, frozen=True, kw_only=True):
    """A new object."""

    async def complete(self) -> None:
        preparation.fill_system_fields(self.obj, now=self.road.clock.now())

    def begun(self) -> Awaitable[Transaction] | None:
        begin = self.road.hooks.begin_create
        return None if begin is None else begin(self.obj, self.options.is_dry_run)

    async def prepare(self, context: StrategyContext) -> None:
        await self._prepare(partial(preparation.before_create, obj=self.obj), context)

    async def validate(self) -> None:
        """Run validating admission with the object's name, which may have been generated since mutating admission."""
        name, attributes = name_of(self.obj), self.attributes
        await self.road.admission.validate(attributes if attributes.name == name else replace(attributes, name=name))


class CreateByUpdateAttempt(CreateAttempt, frozen=True, kw_only=True):
    """A new object from an update of a missing one."""

    async def complete(self) -> None:
        rest.parse_resource_version(self.obj["metadata"].pop("resourceVersion", ""))
        await super().complete()

    async def validate(self) -> None:
        await self._authorize()
        await self.road.admission.validate(self.attributes)

    async def _authorize(self) -> None:
        """Check the right to create: the right to update does not include it."""
        road, request = self.road, self.request
        question = Question(
            request.user,
            "create",
            road.kind.group,
            request.version,
            road.kind.plural,
            road.subresource,
            request.namespace,
            self.attributes.name,
        )
        decision = await road.authorizer.authorize(question)
        if not decision.is_allowed:
            raise errors.InternalError(decision.error) if decision.error else forbidden(question, decision.reason)


class UpdateAttempt(Attempt, frozen=True, kw_only=True):
    """A changed object."""

    old: Object

    async def complete(self) -> None:
        if self.road.strategy.has_generation:
            await worker_thread.run_sized(self._settle, self.size, self.request.user.name)
        self._check_resource_version(self.obj["metadata"], self.old["metadata"])

    def begun(self) -> Awaitable[Transaction] | None:
        begin = self.road.hooks.begin_update
        return None if begin is None else begin(self.obj, self.old, self.options.is_dry_run)

    async def prepare(self, context: StrategyContext) -> None:
        await self._prepare(partial(preparation.before_update, new=self.obj, old=self.old), context)
        await worker_thread.run_sized(self._keep_times, self.size, self.request.user.name)

    def _keep_times(self) -> None:
        """Drop a change of nothing but a manager's time: such a write changes nothing."""
        new, old = self.obj, self.old
        entries, present = new["metadata"].get("managedFields") or (), old["metadata"].get("managedFields") or ()
        if times.differ_only_in_time(entries, present):
            settled = self.road.canonical({**new, "metadata": {**new["metadata"], "managedFields": present}})
            if settled == old:
                new["metadata"]["managedFields"] = present

    def _settle(self) -> None:
        """Bring an object, in place, to the form of the stored one, with which it will be compared."""
        settled = (self.road.settled or self.road.canonical)(self.obj)
        self.obj.clear()
        self.obj.update(settled)

    def _check_resource_version(self, new: dict[str, Any], old: dict[str, Any]) -> None:
        kind, name = self.road.kind, self.attributes.name
        given = rest.parse_resource_version(new.get("resourceVersion", ""))
        if given:
            if given != int(old["resourceVersion"]):
                raise errors.Conflict(kind.resource, name, why=rest.MODIFIED)
        elif self.road.strategy.allows_unconditional_update:
            new["resourceVersion"] = old["resourceVersion"]
        else:
            error = fields.invalid("metadata.resourceVersion", 0, "must be specified for an update")
            found = error_history.retold([error], kind.errors)
            raise invalid_of(GroupKind(kind.group, kind.plural), name, found)


def name_of(obj: Object) -> str:
    """The name of an object; empty when it has none yet."""
    name: str = obj["metadata"].get("name", "")
    return name
