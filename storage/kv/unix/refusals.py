"""Refusals: errors of storage as messages, and back.

Must hold: an error of the owner is raised in the worker with the same class and message. An engine that is closing is
Unavailable to workers, because the owner may be replaced.
"""

from collections.abc import Callable, Sequence

from aio_apiserver.storage import errors
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.kv.unix.messages import CallRefused

_ATTRIBUTES: dict[type[StorageError], Sequence[str]] = {
    errors.Compacted: ("revision", "compact_revision"),
    errors.FutureRevision: ("revision", "current"),
    errors.Corrupt: ("key", "message"),
}
"""The attributes that make an error again. All others are made with their message."""

_SAME = (
    *_ATTRIBUTES,
    errors.TooLarge,
    errors.NoSpace,
    errors.LeaseNotFound,
    errors.DeadlineExceeded,
    errors.InvalidOptions,
)
_BY_NAME: dict[str, Callable[..., StorageError]] = {error.__name__: error for error in _SAME}


def of(number: int, error: StorageError) -> CallRefused:
    """The message for an error of a call."""
    kind = type(error) if type(error) in _SAME else errors.Unavailable
    names = _ATTRIBUTES.get(kind)
    details = [getattr(error, name) for name in names] if names else [str(error)]
    return CallRefused(number, kind.__name__, details)


def raised_by(failed: CallRefused) -> StorageError:
    """The error in a message."""
    make = _BY_NAME.get(failed.error, errors.Unavailable)
    return make(*failed.details)
