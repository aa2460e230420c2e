"""Road: the parts that all verbs of one resource share: its kind, strategy, admission, hooks and storage.

Knows no verb: each has a file beside this one. Must hold: a road is frozen. The state of one request is in its
Attempt.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from msgspec import Struct, field

from aio_apiserver.base import worker_thread
from aio_apiserver.base.clock import Clock, SystemClock
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.worker_thread import LONG
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.base.validation import names
from aio_apiserver.registry.generic import interpret, rest, url_names
from aio_apiserver.registry.generic.access.always import AlwaysAllow
from aio_apiserver.registry.generic.access.authorizer import Authorizer
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Admission, Attributes, Chain, Operation
from aio_apiserver.registry.generic.admission_attributes import attributes_of
from aio_apiserver.registry.generic.config import Config
from aio_apiserver.registry.generic.field_managers import FieldManagers
from aio_apiserver.registry.generic.hooks import Hooks
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, UpdateOptions, WriteOptions
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.generic.strategy import Strategy, StrategyContext
from aio_apiserver.registry.machinery.patch.apply import webhook_converted
from aio_apiserver.registry.machinery.patch.apply.manager import FieldManager
from aio_apiserver.storage.factory.dry_run import DryRunnableStorage

T = TypeVar("T")


def _as_it_is(obj: Object) -> Object:
    """The canonical form of objects without a schema: a new map, like every canonical form."""
    return dict(obj)


class Road(Struct, frozen=True, kw_only=True):
    """A kind in storage, or (with another strategy and `subresource`) one of its subresources.

    canonical: the printed and stored form of a hub object. settled: the form for validation of a change, if it is
    another. managers: the field managers; None without field ownership. forms: the versions in which admission can see
    its objects.
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
    forms: Sequence[AdmissionForm] = ()
    subresource: str = ""

    @property
    def ttl(self) -> int:
        """How many seconds an object lives after its last write; 0 is for ever."""
        return self.config.event_ttl_seconds if self.kind.expires else 0

    def object_kind(self, version: str) -> GroupVersionKind:
        return self.kind.object_kind(version)

    def field_manager(self, version: str) -> FieldManager:
        """The field manager of this path in a version."""
        assert self.managers is not None
        return self.managers.of(version, self.subresource)

    def key(self, request: Request, name: str) -> str:
        """The key of an object. Raises BadRequest for a name that could lead to another place."""
        if self.kind.is_namespaced and not request.namespace:
            raise url_names.namespace_needed()
        if wrong := names.is_path_segment(name, False):
            raise errors.BadRequest(f"Name parameter invalid: {quote(name)}: {';'.join(wrong)}")
        return f"{request.namespace}/{name}" if self.kind.is_namespaced else name

    def scope(self, request: Request) -> str:
        """The key prefix for a list or watch: a namespace, or all."""
        return f"{request.namespace}/" if self.kind.is_namespaced and request.namespace else ""

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
        """The attributes of a write for admission."""
        return attributes_of(
            request,
            operation,
            options,
            resource=self.kind.resource,
            kind=self.object_kind(request.version),
            name=name,
            subresource=self.subresource,
            obj=obj,
            old=old,
            forms=self.forms,
        )

    def context(self, request: Request) -> StrategyContext:
        """The part of the request that strategies see."""
        return request.strategy_context(self.clock.now(), self.config)

    async def track(
        self, request: Request, live: Object | None, new: Object, options: WriteOptions, *, size: int
    ) -> None:
        """Update the managed fields of a new object for its writer."""
        if self.managers is not None:
            manager = self.managers.of(request.version, self.subresource)
            writer = options.field_manager or request.manager
            if size < LONG and manager.ask is None:
                manager.track(live, new, writer, request.empties)
                return
            run = worker_thread.runner(size, request.user.name)
            await webhook_converted.track(manager, live, new, writer, empties=request.empties, run=run)

    def note_own_change(self, live: Object, new: Object, subresource: str = "") -> None:
        """Update the managed fields for a change by the server itself, as if it had been written at a path."""
        if self.managers is not None:
            self.managers.of(self.kind.hub_version, subresource).track(live, new, rest.SERVER_MANAGER)

    def interpreted(self, work: Awaitable[T], verb: str, name: str = "") -> Awaitable[T]:
        """The result of a call to storage, its errors translated."""
        return interpret.on_kind(work, self.kind, verb, name)
