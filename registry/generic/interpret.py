"""Interpret: translates storage's errors to StatusErrors, as kube-apiserver's storage interpreter does.

Must hold: every StorageError becomes a StatusError with the original as its cause. Clients see keys and revisions of
etcd where kube-apiserver shows them, too.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from msgspec import Struct

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.names import GroupResource
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.storage import errors as storage_errors
from aio_apiserver.storage.factory import key_prefixes

T = TypeVar("T")

_RETRY_AFTER = 2
_ROOT = "registry"


class StorageCall(Struct, frozen=True):
    """The call to storage, for the error message. `place` is the key prefix of the resource."""

    resource: GroupResource
    verb: str
    name: str = ""
    place: str = ""
    is_cached: bool = True


def operation_on(kind: Kind, verb: str, name: str = "") -> StorageCall:
    """A call to storage for objects of a kind."""
    return StorageCall(kind.resource, verb, name, kind.place, kind.is_cached)


async def on_kind(work: Awaitable[T], kind: Kind, verb: str, name: str = "") -> T:
    """The result of a call to storage for objects of a kind. Raises its storage error as a StatusError."""
    try:
        return await work
    except storage_errors.StorageError as exc:
        raise status_error(exc, operation_on(kind, verb, name)) from exc


async def interpreted(work: Awaitable[T], operation: StorageCall) -> T:
    """The result of the work. Raises its storage error as a StatusError."""
    try:
        return await work
    except storage_errors.StorageError as exc:
        raise status_error(exc, operation) from exc


def status_error(exc: storage_errors.StorageError, operation: StorageCall) -> errors.StatusError:
    """The StatusError for an error of storage: the first row that fits, or a 500."""
    for cause, answer in _ANSWERS:
        if isinstance(exc, cause):
            return answer(exc, operation)
    return errors.InternalError(str(exc))


def store_read_error(exc: storage_errors.CorruptObjects, operation: StorageCall) -> errors.StatusError:
    """The error of a list that names all objects that cannot be read."""
    causes = [errors.Cause("UnexpectedServerResponse", *_corrupt(one, operation)) for one in exc.found]
    if exc.is_cut:
        causes.append(errors.Cause("FieldValueTooMany", "too many errors, the list is truncated"))
    return errors.StoreReadError(operation.resource, causes=causes)


def _corrupt(exc: storage_errors.Corrupt, operation: StorageCall) -> tuple[str, str]:
    """The message of kube-apiserver about an object that cannot be read, and its whole key."""
    key = exc.key if exc.key.startswith("/") else _key_of(exc.key, operation)
    why = "object not decodable" if exc.revision else "data from the storage is not transformable"
    found = f"corrupt object, Code: 7, Key: {key}, ResourceVersion: 0"
    return f"StorageError: {found}, AdditionalErrorMsg: {why} revision={exc.revision}: {exc.message}", key


def _key_of(key: str, operation: StorageCall) -> str:
    """The key of an object below the default prefix."""
    return key_prefixes.key_prefix(_ROOT, operation.place or operation.resource.resource) + key


def _exists(exc: Any, operation: StorageCall) -> errors.StatusError:
    if operation.verb == "create":
        return errors.AlreadyExists(operation.resource, operation.name)
    return _conflict(exc, operation)


def _conflict(exc: Any, operation: StorageCall) -> errors.StatusError:
    return errors.Conflict(operation.resource, operation.name, why=str(exc))


def _unmet(exc: Any, operation: StorageCall) -> errors.StatusError:
    """The message of kube-apiserver, with the key below the default prefix.

    On a dry run kube-apiserver's key lacks the root.
    """
    key = _key_of(exc.key, operation)
    key = key.removeprefix(f"/{_ROOT}") if exc.is_dry else key
    found = f"invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {exc.message}"
    return errors.Conflict(operation.resource, operation.name, why=f"StorageError: {found}")


def _bad_request(exc: Any, _operation: StorageCall) -> errors.StatusError:
    return errors.BadRequest(str(exc))


def _too_large(exc: Any, operation: StorageCall) -> errors.StatusError:
    """Clients may retry soon. kube-apiserver sends no Retry-After for resources without a watch cache."""
    seconds = 1 if operation.is_cached else 0
    return errors.TooLargeResourceVersion(exc.revision, exc.current, retry_after_seconds=seconds)


def _unavailable(exc: Any, _operation: StorageCall) -> errors.StatusError:
    return errors.ServiceUnavailable(str(exc))


def _timeout(exc: Any, _operation: StorageCall) -> errors.StatusError:
    return errors.Timeout(f"request did not complete within the allotted time: {exc}", retry_after_seconds=1)


def _unreachable(_exc: Any, operation: StorageCall) -> errors.StatusError:
    return errors.ServerTimeout(operation.resource, operation.verb, retry_after_seconds=_RETRY_AFTER)


# Subclasses stand before their bases: DeadlineExceeded and Initializing are Unavailable too.
_ANSWERS: tuple[tuple[type[storage_errors.StorageError], Callable[[Any, StorageCall], errors.StatusError]], ...] = (
    (storage_errors.KeyNotFound, lambda _exc, op: errors.NotFound(op.resource, op.name)),
    (storage_errors.KeyExists, _exists),
    (storage_errors.PreconditionFailed, _unmet),
    (storage_errors.TooManyConflicts, _conflict),
    (storage_errors.FutureRevision, _too_large),
    (storage_errors.RevisionExpired, lambda exc, _op: errors.Expired(str(exc), continue_token=exc.continue_token)),
    (storage_errors.InvalidContinue, _bad_request),
    (storage_errors.RevisionSet, lambda exc, _op: errors.StatusError(str(exc))),
    (storage_errors.InvalidOptions, _bad_request),
    (storage_errors.NotStorable, _bad_request),
    (storage_errors.Untranslatable, lambda exc, _op: errors.StatusError(str(exc))),
    (storage_errors.TooLarge, lambda _exc, _op: errors.RequestEntityTooLarge("limit is 1572864")),
    (storage_errors.Initializing, lambda exc, _op: errors.TooManyRequests(str(exc))),
    (storage_errors.DeadlineExceeded, _timeout),
    (storage_errors.Unavailable, _unreachable),
    (storage_errors.NoSpace, lambda exc, _op: errors.StoreFull(str(exc))),
    (storage_errors.Closed, _unavailable),
)
