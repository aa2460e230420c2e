"""traced_cacher: TracedCacher, a Cacher whose reads and watches are spans, as in kube-apiserver.

A server without traces has plain Cachers.
"""

from aio_apiserver.base import tracing
from aio_apiserver.storage.cacher.cacher import Cacher
from aio_apiserver.storage.interface import ListOptions, ListResult, Watch, WatchOptions, WatchSink
from aio_apiserver.storage.stored_object import StoredObject


class TracedCacher(Cacher):
    """The objects of one resource, cached."""

    async def get(self, key: str, *, resource_version: int | None = None) -> StoredObject:
        wanted = "" if resource_version is None else str(resource_version)
        with tracing.spanned("cacher.Get", {"key": key, "resource-version": wanted}):
            return await super().get(key, resource_version=resource_version)

    async def get_list(self, key: str, options: ListOptions) -> ListResult:
        with tracing.spanned("cacher.GetList", {"type": self._name}) as span:
            page = await super().get_list(key, options)
            span.step("Filtered items", {"count": len(page.items)})
            return page

    async def watch(self, key: str, options: WatchOptions, sink: WatchSink) -> Watch:
        with tracing.spanned("cacher.Watch", {"type": self._name}):
            return await super().watch(key, options, sink)
