"""Creating: stores a new object under its own name, or under a generated one."""

from collections.abc import Awaitable
from functools import partial

from aio_apiserver.base import worker_thread
from aio_apiserver.base.unstructured import Object
from aio_apiserver.base.worker_thread import LONG
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic import preparation
from aio_apiserver.registry.generic.admission.interface import Operation
from aio_apiserver.registry.generic.hooks import Taken
from aio_apiserver.registry.generic.options import CreateOptions
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.registry.generic.store import reading
from aio_apiserver.registry.generic.store.attempts import CreateAttempt, name_of
from aio_apiserver.registry.generic.store.road import Road
from aio_apiserver.storage.stored_object import StoredObject

_GENERATE_ATTEMPTS = 8


async def create(road: Road, request: Request, obj: Object, options: CreateOptions, *, name: str) -> StoredObject:
    """Create an object. `name` is that of the URL, for subresources. Raises AlreadyExists, Invalid, Forbidden."""
    preparation.wipe_system_fields(obj["metadata"])
    attributes = road.attributes(Operation.CREATE, request, options, name=name or name_of(obj), obj=obj)
    attempt = CreateAttempt(
        road=road,
        request=request,
        attributes=attributes,
        options=options,
        taken=Taken(),
        obj=obj,
        size=request.size,
    )
    await attempt.admit()
    prefix = "" if name_of(obj) else obj["metadata"].get("generateName", "")
    if prefix:
        return await _create_generated(attempt, prefix)
    try:
        return await _create_once(attempt)
    except errors.AlreadyExists as exc:
        ending = "object is being deleted: " if await _is_ending(attempt) else ""
        if obj["metadata"].get("generateName"):
            raise _conflict(attempt, ending) from exc
        exc.message = f"{ending}{exc.message}"
        raise  # an error that is its own cause would keep the request's body until a garbage collection


async def _create_generated(attempt: CreateAttempt, prefix: str) -> StoredObject:
    metadata = attempt.obj["metadata"]
    for _ in range(_GENERATE_ATTEMPTS):
        metadata["name"] = preparation.generate_name(prefix)
        try:
            return await _create_once(attempt)
        except errors.AlreadyExists:
            continue
    raise _conflict(attempt)


def _conflict(attempt: CreateAttempt, ending: str = "") -> errors.StatusError:
    """The error for an object with a generateName, as in kube-apiserver also when the client has named it.

    ending: the beginning of its message.
    """
    conflict = errors.GenerateNameConflict(attempt.road.kind.resource, name_of(attempt.obj))
    conflict.message = f"{ending}{conflict.message}"
    return conflict


def _create_once(attempt: CreateAttempt) -> Awaitable[StoredObject]:
    """One try under one name; what its hook has allocated is kept or given back."""
    creating = _create_ready(attempt)
    return creating if attempt.road.hooks.begin_create is None else attempt.taken.around(creating)


async def _create_ready(attempt: CreateAttempt) -> StoredObject:
    await attempt.ready()
    try:
        return await _write(attempt)
    except errors.RequestEntityTooLarge:
        if attempt.obj["metadata"].pop("managedFields", None) is None:
            raise
        return await _write(attempt)


async def _write(attempt: CreateAttempt) -> StoredObject:
    road, obj = attempt.road, attempt.obj
    name = name_of(obj)
    if attempt.size < LONG:
        canonical = road.canonical(obj)
    else:
        canonical = await worker_thread.run(partial(road.canonical, obj), attempt.request.user.name)
    key = road.key(attempt.request, name)
    writing = road.storage.create(key, canonical, ttl=road.ttl, dry_run=attempt.options.is_dry_run)
    return await road.interpreted(writing, "create", name)


async def _is_ending(attempt: CreateAttempt) -> bool:
    """Whether the existing object with that name is terminating."""
    try:
        present = await reading.get(attempt.road, attempt.request, name_of(attempt.obj))
    except errors.StatusError:
        return False
    return bool(present.decode()["metadata"].get("deletionTimestamp"))
