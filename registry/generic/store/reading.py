"""Reading: GET, LIST and WATCH. Stored bytes pass through without being decoded here."""

from collections.abc import Awaitable

from msgspec.structs import replace

from aio_apiserver.registry.generic.interpret import operation_on, status_error, store_read_error
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.generic.store.road import Road
from aio_apiserver.storage.errors import CorruptObjects, StorageError
from aio_apiserver.storage.interface import ListOptions, ListResult, Watch, WatchOptions, WatchSink
from aio_apiserver.storage.stored_object import StoredObject


async def get(road: Road, request: Request, name: str, *, resource_version: int | None = None) -> StoredObject:
    try:
        return await road.storage.get(road.key(request, name), resource_version=resource_version)
    except StorageError as exc:
        raise status_error(exc, operation_on(road.kind, "get", name)) from exc


async def list_(road: Road, request: Request, options: ListOptions) -> ListResult:
    """With the feature gate to delete objects that cannot be read, the error names all of them."""
    try:
        return await road.storage.get_list(road.scope(request), options)
    except StorageError as exc:
        operation = operation_on(road.kind, "list")
        if isinstance(exc, CorruptObjects) and road.config.deletes_unreadable:
            raise store_read_error(exc, operation) from exc
        raise status_error(exc, operation) from exc


def watch(road: Road, request: Request, options: WatchOptions, sink: WatchSink, name: str) -> Awaitable[Watch]:
    """A name watches one object."""
    key = road.scope(request)
    if name:
        key, options = road.key(request, name), replace(options, recursive=False)
    return road.interpreted(road.storage.watch(key, options, sink), "watch", name)
