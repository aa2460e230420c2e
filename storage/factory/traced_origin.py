"""traced_origin: TracedOrigin, a MeasuredOrigin whose writes and lists are spans, named as in kube-apiserver's store.

It lies below the cache, on a server with traces. Must hold: the results are those of a MeasuredOrigin.
"""

from typing import Unpack

from aio_apiserver.base import tracing
from aio_apiserver.base.tracing import Attributes
from aio_apiserver.base.unstructured import Object
from aio_apiserver.storage.factory.measured_origin import MeasuredOrigin
from aio_apiserver.storage.interface import ListOptions, ListResult, TryUpdate, UpdateCall
from aio_apiserver.storage.stored_object import StoredObject


class TracedOrigin(MeasuredOrigin):
    """The Origin of one resource, with spans around what is measured."""

    async def create(self, key: str, obj: Object, *, ttl: int = 0) -> StoredObject:
        with tracing.spanned("Create etcd3", self._named(key)):
            return await super().create(key, obj, ttl=ttl)

    async def guaranteed_update(self, key: str, try_update: TryUpdate, **call: Unpack[UpdateCall]) -> StoredObject:
        with tracing.spanned("GuaranteedUpdate etcd3", self._named(key)):
            return await super().guaranteed_update(key, try_update, **call)

    async def get_list(self, key: str, options: ListOptions) -> ListResult:
        wanted = "" if options.resource_version is None else str(options.resource_version)
        attributes: Attributes = {
            "key": key,
            "resourceVersion": wanted,
            "resourceVersionMatch": options.match.value,
            "limit": options.limit,
            "continue": options.continue_token,
        }
        with tracing.spanned(f"List(recursive={str(options.recursive).lower()}) etcd3", attributes):
            return await super().get_list(key, options)

    def _named(self, key: str) -> Attributes:
        return {"key": key, "group": self._resource.group, "resource": self._resource.resource}
