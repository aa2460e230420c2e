"""Store: the generic registry. Every kind that is kept in storage is served by this one class.

It walks a request down: admission, the kind's strategy, the common rules of metadata, storage; and back up: hooks.
With generic/deleter.py it is the only caller of storage. Knows no HTTP and no particular kind.

Must hold: an update or deletion is decided inside storage's compare-and-set, on the state that it replaces; a dry run
walks the same road and stops before the write.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from aio_apiserver.registry.base import errors, owner_references
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupKind, GroupVersionKind
from aio_apiserver.registry.base.validation import field as fields
from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.generic import deletion, interpret, preparation, rest
from aio_apiserver.registry.generic.access.always import AlwaysAllow
from aio_apiserver.registry.generic.access.authorizer import Attributes as Question
from aio_apiserver.registry.generic.access.authorizer import Authorizer
from aio_apiserver.registry.generic.access.refusals import forbidden
from aio_apiserver.registry.generic.admission.interface import Admission, Attributes, Chain, Operation
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.registry.generic.deleter import Deleter
from aio_apiserver.registry.generic.field_managers import FieldManagers
from aio_apiserver.registry.generic.forms import Form
from aio_apiserver.registry.generic.hooks import Hooks, Taken
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, UpdateOptions, WriteOptions
from aio_apiserver.registry.generic.rest import Deleted, Request, Updated, UpdatedObject
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.machinery.patch.apply import admitted, times, webhook_converted
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.storage import worker_thread
from aio_apiserver.storage.clock import Clock, SystemClock
from aio_apiserver.storage.factory.dry_run import DryRunnableStorage
from aio_apiserver.storage.interface import (
    ListOptions,
    ListResult,
    Preconditions,
    Update,
    Watch,
    WatchOptions,
    WatchSink,
)
from aio_apiserver.storage.stored_object import Object, StoredObject
from aio_apiserver.storage.worker_thread import LONG, TakesLong
from aio_apiserver.storage.yielding import in_turns

T = TypeVar("T")

_GENERATE_ATTEMPTS = 8


class _EmptiedFinalizers(Exception):
    """An update took the last finalizer off an ending object: delete it instead of writing."""

    def __init__(self, obj: Object) -> None:
        super().__init__()
        self.obj = obj


def _as_it_is(obj: Object) -> Object:
    """The canonical form of objects without a schema: a new map, as every canonical form is."""
    return dict(obj)


class Store(Struct, frozen=True, kw_only=True):
    """A kind in storage, or (with another strategy and `subresource`) one of its subresources.

    canonical: the one form of a hub object, as it is printed; what is stored is always in it. settled: that in which a
    change is validated, where it is another. managers: who looks after the owners of its fields; None for what is
    nobody's. forms: in what admission can see them.
    """

    kind: Kind
    storage: DryRunnableStorage
    strategy: Strategy
    admission: Admission = field(default_factory=Chain)
    authorizer: Authorizer = field(default_factory=AlwaysAllow)
    canonical: Callable[[Object], Object] = _as_it_is
    settled: Callable[[Object], Object] | None = None
    hooks: Hooks = field(default_factory=Hooks)
    clock: Clock = field(default_factory=SystemClock)
    config: Config = field(default_factory=Config)
    managers: FieldManagers | None = None
    forms: Sequence[Form] = ()
    subresource: str = ""

    @property
    def ttl(self) -> int:
        """How many seconds an object lives after its last write; 0 is for ever."""
        return self.config.event_ttl_seconds if self.kind.expires else 0

    def for_subresource(self, subresource: str, strategy: Strategy) -> "Store":
        """The same objects under another strategy: /status and its like. They take nothing."""
        hooks = replace(self.hooks, begin_create=None, begin_update=None)
        return replace(self, subresource=subresource, strategy=strategy, hooks=hooks)

    def object_kind(self, version: str) -> GroupVersionKind:
        return self.kind.object_kind(version)

    def field_manager(self, version: str) -> FieldManager:
        """Who looks after the owners of fields on this path."""
        assert self.managers is not None
        return self.managers.of(version, self.subresource)

    def key(self, request: Request, name: str) -> str:
        """Where an object is kept. Raises BadRequest for a name that could lead to another place."""
        if self.kind.is_namespaced and not request.namespace:
            raise errors.BadRequest("Namespace parameter required.")
        if wrong := names.is_path_segment(name, False):
            raise errors.BadRequest(f"Name parameter invalid: {quote(name)}: {';'.join(wrong)}")
        return f"{request.namespace}/{name}" if self.kind.is_namespaced else name

    def scope(self, request: Request) -> str:
        """Under what the objects of a list or watch are kept: a namespace, or all."""
        return f"{request.namespace}/" if self.kind.is_namespaced and request.namespace else ""

    # Reading

    async def get(self, request: Request, name: str, *, resource_version: int | None = None) -> StoredObject:
        reading = self.storage.get(self.key(request, name), resource_version=resource_version)
        return await self.interpreted(reading, "get", name)

    async def list(self, request: Request, options: ListOptions) -> ListResult:
        return await self.interpreted(self.storage.get_list(self.scope(request), options), "list")

    async def watch(self, request: Request, options: WatchOptions, sink: WatchSink, *, name: str = "") -> Watch:
        key = self.scope(request)
        if name:
            key, options = self.key(request, name), replace(options, recursive=False)
        return await self.interpreted(self.storage.watch(key, options, sink), "watch", name)

    # Creating

    async def create(self, request: Request, obj: Object, options: CreateOptions, *, name: str = "") -> StoredObject:
        preparation.wipe_system_fields(obj["metadata"])
        preparation.settle_namespace(obj, request, self.kind)
        await self._track(request, None, obj, options, size=request.size)
        attributes = self.attributes(Operation.CREATE, request, options, name=name or _name(obj), obj=obj)
        await self._mutate(attributes, obj)
        prefix = "" if _name(obj) else obj["metadata"].get("generateName", "")
        if not prefix:
            return await self._create_named(attributes, request, options)
        return await self._create_generated(attributes, request, options, prefix=prefix)

    async def _create_named(self, attributes: Attributes, request: Request, options: CreateOptions) -> StoredObject:
        try:
            return await self._create_once(attributes, request, options)
        except errors.AlreadyExists as exc:
            if await self._is_ending(attributes, request):
                exc.message = f"object is being deleted: {exc.message}"
            raise

    async def _create_generated(
        self, attributes: Attributes, request: Request, options: CreateOptions, *, prefix: str
    ) -> StoredObject:
        assert attributes.obj is not None
        metadata = attributes.obj["metadata"]
        for _ in range(_GENERATE_ATTEMPTS):
            metadata["name"] = preparation.generate_name(prefix)
            try:
                return await self._create_once(attributes, request, options)
            except errors.AlreadyExists:
                continue
        raise errors.GenerateNameConflict(self.kind.resource, metadata["name"])

    async def _create_once(self, attributes: Attributes, request: Request, options: CreateOptions) -> StoredObject:
        obj = attributes.obj
        assert obj is not None
        preparation.fill_system_fields(obj, now=self.clock.now())
        if self.hooks.begin_create is None:
            stored = await self._create_prepared(attributes, obj, request, options)
        else:
            taken = Taken()
            await taken.take(self.hooks.begin_create(obj, options.is_dry_run))
            stored = await taken.around(self._create_prepared(attributes, obj, request, options))
        if not options.is_dry_run:
            await self.hooks.after_create(stored)
        return stored

    async def _create_prepared(
        self, attributes: Attributes, obj: Object, request: Request, options: CreateOptions
    ) -> StoredObject:
        context = self.context(request) if self.hooks.check is None else await self._checked(request, obj, None)
        await self._prepare(partial(preparation.before_create, obj=obj), request, context, size=request.size)
        name = _name(obj)
        await self.admission.validate(replace(attributes, name=name))
        try:
            return await self._write_new(request, name, obj, options)
        except errors.RequestEntityTooLarge:
            if obj["metadata"].pop("managedFields", None) is None:
                raise
            return await self._write_new(request, name, obj, options)

    async def _write_new(self, request: Request, name: str, obj: Object, options: CreateOptions) -> StoredObject:
        canonical = await worker_thread.run_sized(partial(self.canonical, obj), request.size, request.user.name)
        writing = self.storage.create(self.key(request, name), canonical, ttl=self.ttl, dry_run=options.is_dry_run)
        return await self.interpreted(writing, "create", name)

    async def _is_ending(self, attributes: Attributes, request: Request) -> bool:
        """Whether the object that is in the way is about to go."""
        assert attributes.obj is not None
        try:
            present = await self.get(request, _name(attributes.obj))
        except errors.StatusError:
            return False
        return bool(present.decode()["metadata"].get("deletionTimestamp"))

    # Updating

    async def update(
        self,
        request: Request,
        name: str,
        updated: UpdatedObject,
        options: UpdateOptions,
        *,
        force_create: bool = False,
    ) -> Updated:
        may_create = force_create or self.strategy.allows_create_on_update
        is_created = is_too_large = False
        taken = Taken()

        async def try_update(current: StoredObject | None) -> Update:
            nonlocal is_created
            await taken.give_back()
            is_created = current is None
            if current is None and not may_create:
                raise errors.NotFound(self.kind.resource, name)
            new = await updated.make(current)
            old = current.decode() if current is not None else None
            size = max(request.size, len(current.json) if current is not None else 0)
            if not updated.knows_managers:
                await self._track(request, old, new, options, size=size)
            if old is None:
                await self._prepare_creation(request, name, new, options=options, taken=taken)
            else:
                await self._prepare_update(request, name, new=new, old=old, options=options, taken=taken, size=size)
            if is_too_large:
                new["metadata"].pop("managedFields", None)
            return Update(
                await worker_thread.run_sized(partial(self.canonical, new), size, request.user.name), ttl=self.ttl
            )

        key = self.key(request, name)
        preconditions = updated.preconditions or Preconditions()

        async def write() -> StoredObject:
            writing = self.storage.guaranteed_update(
                key, try_update, ignore_not_found=may_create, preconditions=preconditions, dry_run=options.is_dry_run
            )
            return await taken.around(self.interpreted(writing, "update", name))

        try:
            stored = await write()
        except _EmptiedFinalizers as exc:
            return await self._delete_finalized(key, name, exc.obj, preconditions, is_dry_run=options.is_dry_run)
        except errors.RequestEntityTooLarge:
            if updated.knows_managers:
                raise
            is_too_large = True
            stored = await write()
        if not options.is_dry_run:
            await (self.hooks.after_create if is_created else self.hooks.after_update)(stored)
        return Updated(stored, is_created)

    async def _prepare_creation(
        self, request: Request, name: str, obj: Object, *, options: UpdateOptions, taken: Taken
    ) -> None:
        create_options = CreateOptions(
            dry_run=options.dry_run, field_manager=options.field_manager, field_validation=options.field_validation
        )
        preparation.settle_namespace(obj, request, self.kind)
        attributes = self.attributes(Operation.CREATE, request, create_options, name=name, obj=obj)
        await self._mutate(attributes, obj)
        rest.parse_resource_version(obj["metadata"].pop("resourceVersion", ""))
        preparation.fill_system_fields(obj, now=self.clock.now())
        if self.hooks.begin_create is not None:
            await taken.take(self.hooks.begin_create(obj, options.is_dry_run))
        context = self.context(request) if self.hooks.check is None else await self._checked(request, obj, None)
        await self._prepare(partial(preparation.before_create, obj=obj), request, context, size=request.size)
        await self._authorize_creation(request, name)
        await self.admission.validate(attributes)

    async def _authorize_creation(self, request: Request, name: str) -> None:
        """Who may change an object may not therefore make it."""
        question = Question(
            request.user,
            "create",
            self.kind.group,
            request.version,
            self.kind.plural,
            self.subresource,
            request.namespace,
            name,
        )
        decision = await self.authorizer.authorize(question)
        if not decision.is_allowed:
            raise errors.InternalError(decision.error) if decision.error else forbidden(question, decision.reason)

    async def _prepare_update(
        self,
        request: Request,
        name: str,
        *,
        new: Object,
        old: Object,
        options: UpdateOptions,
        taken: Taken,
        size: int,
    ) -> None:
        preparation.settle_namespace(new, request, self.kind)
        attributes = self.attributes(Operation.UPDATE, request, options, name=name, obj=new, old=old)
        await self._mutate(attributes, new)
        if self.strategy.has_generation:
            await worker_thread.run_sized(partial(self._settle, new), size, request.user.name)
        self._check_resource_version(name, new["metadata"], old["metadata"])
        if self.hooks.begin_update is not None:
            await taken.take(self.hooks.begin_update(new, old, options.is_dry_run))
        context = self.context(request) if self.hooks.check is None else await self._checked(request, new, old)
        await self._prepare(partial(preparation.before_update, new=new, old=old), request, context, size=size)
        await worker_thread.run_sized(partial(self._keep_times, new, old), size, request.user.name)
        await self.admission.validate(attributes)
        if deletion.ends_with(new["metadata"], old["metadata"]) and not self.strategy.is_held(new):
            raise _EmptiedFinalizers(new)

    def _keep_times(self, new: Object, old: Object) -> None:
        """A write that changes nothing but the time of its manager changes nothing."""
        entries, present = new["metadata"].get("managedFields") or (), old["metadata"].get("managedFields") or ()
        if times.differ_only_in_time(entries, present):
            settled = self.canonical({**new, "metadata": {**new["metadata"], "managedFields": present}})
            if settled == old:
                new["metadata"]["managedFields"] = present

    def _settle(self, new: Object) -> None:
        """Give an object, in place, the form of the stored one with which it is going to be compared."""
        settled = (self.settled or self.canonical)(new)
        new.clear()
        new.update(settled)

    def _check_resource_version(self, name: str, new: dict[str, Any], old: dict[str, Any]) -> None:
        given = rest.parse_resource_version(new.get("resourceVersion", ""))
        if given:
            if given != int(old["resourceVersion"]):
                raise errors.Conflict(self.kind.resource, name, why=rest.MODIFIED)
        elif self.strategy.allows_unconditional_update:
            new["resourceVersion"] = old["resourceVersion"]
        else:
            error = fields.invalid("metadata.resourceVersion", 0, "must be specified for an update")
            raise invalid_of(GroupKind(self.kind.group, self.kind.plural), name, [error])

    async def _delete_finalized(
        self, key: str, name: str, obj: Object, preconditions: Preconditions, *, is_dry_run: bool
    ) -> Updated:
        """The client sees the object that it sent; that it is gone shows in the next read."""
        deleting = self.storage.delete(key, preconditions=preconditions, dry_run=is_dry_run)
        try:
            stored = await self.interpreted(deleting, "delete", name)
        except errors.NotFound:
            return Updated(self.storage.stored(key, self.canonical(obj)))
        if not is_dry_run:
            await self.hooks.after_delete(stored)
        return Updated(self.storage.stored(key, self.canonical(obj)))

    # Deleting

    async def delete(self, request: Request, name: str, options: DeleteOptions) -> Deleted:
        self.strategy.check_delete(name)
        self._warn_of_deletion(request, options)
        return await Deleter(self, request, name, options).run()

    async def delete_collection(self, request: Request, options: DeleteOptions, selected: ListOptions) -> ListResult:
        """Not atomic: what was deleted before a failure stays deleted."""
        self._warn_of_deletion(request, options)
        result = await self.list(request, selected)
        async for item in in_turns(result.items):
            namespace, _, name = item.key.rpartition("/")
            try:
                await Deleter(self, replace(request, namespace=namespace), name, options).run()
            except errors.NotFound:
                continue
        return result

    def _warn_of_deletion(self, request: Request, options: DeleteOptions) -> None:
        for warning in self.strategy.warnings_on_delete(options):
            request.warn(warning)

    # What all of them need

    async def _track(
        self, request: Request, live: Object | None, new: Object, options: WriteOptions, *, size: int
    ) -> None:
        """Note on a new object what of it is now its writer's."""
        if self.managers is not None:
            manager = self.managers.of(request.version, self.subresource)
            writer = options.field_manager or request.manager
            await webhook_converted.track(
                manager, live, new, writer, empties=request.empties, run=worker_thread.runner(size, request.user.name)
            )

    async def _prepare(
        self, prepare: Callable[..., None], request: Request, context: StrategyContext, *, size: int
    ) -> None:
        """Make an object ready to be stored, in the worker thread if that takes long."""
        prepare = partial(prepare, self.kind, self.strategy, request=request)
        if size < LONG and not self.strategy.takes_long:
            try:
                prepare(context=context)
            except TakesLong:
                pass
            else:
                return
        long = partial(prepare, context=replace(context, may_take_long=True))
        await worker_thread.run(long, request.user.name)

    def note_own_change(self, live: Object, new: Object, subresource: str = "") -> None:
        """Note on an object what the server itself has changed, as if it had come by a path."""
        if self.managers is not None:
            self.managers.of(self.kind.hub_version, subresource).track(live, new, rest.SERVER_MANAGER)

    async def _mutate(self, attributes: Attributes, obj: Object) -> None:
        entries = obj["metadata"].get("managedFields")
        await self.admission.mutate(attributes)
        admitted.settle_managed_fields(obj["metadata"], entries, attributes.warn)
        owner_references.drop_duplicates(obj["metadata"], attributes.warn, is_after_admission=True)

    def attributes(
        self,
        operation: Operation,
        request: Request,
        options: CreateOptions | UpdateOptions | DeleteOptions,
        *,
        name: str,
        obj: Object | None = None,
        old: Object | None = None,
    ) -> Attributes:
        """A write as admission sees it."""
        return Attributes(
            operation=operation,
            resource=self.kind.resource,
            version=request.version,
            kind=self.object_kind(request.version),
            subresource=self.subresource,
            namespace=request.namespace,
            name=name,
            obj=obj,
            old=old,
            options=options,
            is_dry_run=options.is_dry_run,
            user=request.user,
            warn=request.warn,
            annotate=request.annotate,
            forms=self.forms,
            deadline=request.deadline,
        )

    def context(self, request: Request) -> StrategyContext:
        """What strategies may know of a request that is being served."""
        return request.strategy_context(self.clock.now(), self.config)

    async def _checked(self, request: Request, obj: Object, old: Object | None) -> StrategyContext:
        """The same, with what the kind's check has found."""
        assert self.hooks.check is not None
        found = await self.hooks.check(request, self.subresource, obj, old)
        return replace(self.context(request), found=found)

    def interpreted(self, work: Awaitable[T], verb: str, name: str = "") -> Awaitable[T]:
        """The result of a call to storage, its errors translated."""
        return interpret.interpreted(work, interpret.operation_on(self.kind, verb, name))


def _name(obj: Object) -> str:
    name: str = obj["metadata"].get("name", "")
    return name
