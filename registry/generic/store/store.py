"""Store: the generic registry Store. Every kind in storage is served by this one class.

A request runs admission, the kind's strategy, the common rules of metadata, and storage. The hooks run last. A verb is
a file: reading.py, creating.py, updating.py, deleting.py. They share road.py, and attempts.py has the order of a write.
Knows no particular kind.

Must hold: an update or deletion is decided inside storage's compare-and-set, on the state that it replaces. A dry run
takes the same steps and stops before the write.
"""

from collections.abc import Awaitable

from msgspec.structs import replace

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.generic.options import CreateOptions, DeleteOptions, UpdateOptions
from aio_apiserver.registry.generic.rest import Deleted, Request, Updated, UpdatedObject
from aio_apiserver.registry.generic.store import creating, deleting, reading
from aio_apiserver.registry.generic.store.road import Road
from aio_apiserver.registry.generic.store.updating import Modification
from aio_apiserver.registry.generic.strategy import Strategy
from aio_apiserver.storage.interface import ListOptions, ListResult, Watch, WatchOptions, WatchSink
from aio_apiserver.storage.stored_object import StoredObject


class Store(Road, frozen=True, kw_only=True):
    """All verbs of one resource."""

    def for_subresource(self, subresource: str, strategy: Strategy) -> "Store":
        """The same objects under another strategy: /status and similar ones. They allocate nothing."""
        hooks = replace(self.hooks, begin_create=None, begin_update=None)
        return replace(self, subresource=subresource, strategy=strategy, hooks=hooks)

    get = reading.get

    def list(self, request: Request, options: ListOptions) -> Awaitable[ListResult]:
        return reading.list_(self, request, options)

    def watch(self, request: Request, options: WatchOptions, sink: WatchSink, *, name: str = "") -> Awaitable[Watch]:
        return reading.watch(self, request, options, sink, name)

    async def create(self, request: Request, obj: Object, options: CreateOptions, *, name: str = "") -> StoredObject:
        return await creating.create(self, request, obj, options, name=name)

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
        return await Modification(self, request, name, updated, options, may_create=may_create).run()

    async def delete(self, request: Request, name: str, options: DeleteOptions) -> Deleted:
        return await deleting.delete(self, request, name, options)

    async def delete_collection(self, request: Request, options: DeleteOptions, selected: ListOptions) -> ListResult:
        return await deleting.delete_collection(self, request, options, selected)
