"""Failures: translates the errors of etcd and gRPC, and tells which requests may be repeated.

The table answers two questions for every failure: may the request have taken effect, and which of storage's errors is
it? It waits for nothing and knows no endpoint.

Must hold: a failure that this table does not know may have taken effect (`Effect.UNKNOWN`), so that no write is
repeated on a guess. A message means "no effect" in two cases. Either etcd sends it before it proposes the request to
the cluster, or every member sends it alike when the request is applied.
"""

import asyncio
from collections.abc import Callable
from enum import Enum, auto

from msgspec import Struct

from aio_apiserver.storage.errors import (
    Compacted,
    Corrupt,
    DeadlineExceeded,
    FutureRevision,
    InvalidOptions,
    LeaseNotFound,
    NoSpace,
    StorageError,
    TooLarge,
    Unauthenticated,
    Unavailable,
)
from aio_apiserver.storage.kv.etcd.grpc_status import Code, RpcFailed


class Effect(Enum):
    """The effect of a failed request, and the remedy."""

    REFUSED = auto()
    """Nothing was done, and a repetition would be refused as well."""
    RETRY = auto()
    """Nothing was done; a repetition may succeed."""
    RENEW = auto()
    """Nothing was done, because our token has expired: a repetition with a new one may succeed."""
    UNKNOWN = auto()
    """The request may have been executed, or may still be."""


class Failure(Struct, frozen=True):
    """A failed call. `leave`: the endpoint cannot serve at present, and gets no requests until a probe finds it
    healthy.
    """

    effect: Effect
    error: StorageError
    leave: bool = False


class _Meaning(Struct, frozen=True):
    effect: Effect
    make: Callable[[str], StorageError]
    leave: bool = False


def _compacted(_message: str) -> StorageError:
    return Compacted(0, 0)  # the engine knows what it asked for, and looks up what is kept


def _future(_message: str) -> StorageError:
    return FutureRevision(0, 0)


def _corrupt(message: str) -> StorageError:
    return Corrupt("the cluster", message)


_REFUSED, _RETRY, _RENEW, _UNKNOWN = Effect.REFUSED, Effect.RETRY, Effect.RENEW, Effect.UNKNOWN

_MEANINGS: dict[str, _Meaning] = {
    # what was asked for
    "etcdserver: mvcc: required revision has been compacted": _Meaning(_REFUSED, _compacted),
    "etcdserver: mvcc: required revision is a future revision": _Meaning(_REFUSED, _future),
    "etcdserver: request is too large": _Meaning(_REFUSED, TooLarge),
    "etcdserver: requested lease not found": _Meaning(_REFUSED, LeaseNotFound),
    "etcdserver: too large lease TTL": _Meaning(_REFUSED, InvalidOptions),
    "etcdserver: key is not provided": _Meaning(_REFUSED, InvalidOptions),
    # the state of the store
    "etcdserver: mvcc: database space exceeded": _Meaning(_REFUSED, NoSpace),
    "etcdserver: corrupt cluster": _Meaning(_REFUSED, _corrupt),
    # who we are
    "etcdserver: permission denied": _Meaning(_REFUSED, Unauthenticated),
    "etcdserver: authentication failed, invalid user ID or password": _Meaning(_REFUSED, Unauthenticated),
    "etcdserver: authentication is not enabled": _Meaning(_REFUSED, Unauthenticated),
    "etcdserver: user name is empty": _Meaning(_RENEW, Unauthenticated),
    "etcdserver: invalid auth token": _Meaning(_RENEW, Unauthenticated),
    "etcdserver: revision of auth store is old": _Meaning(_RENEW, Unauthenticated),
    "auth: revision in header is old": _Meaning(_RENEW, Unauthenticated),  # the same, before 3.5.8
    # answers that come before the request is proposed
    "etcdserver: no leader": _Meaning(_RETRY, Unavailable, leave=True),
    "etcdserver: not capable": _Meaning(_RETRY, Unavailable, leave=True),
    "etcdserver: rpc not supported for learner": _Meaning(_RETRY, Unavailable, leave=True),
    "etcdserver: too many requests": _Meaning(_RETRY, Unavailable),
    "raft proposal dropped": _Meaning(_RETRY, Unavailable, leave=True),
    # answers that may come after it
    "etcdserver: leader changed": _Meaning(_UNKNOWN, Unavailable),
    "etcdserver: server stopped": _Meaning(_UNKNOWN, Unavailable, leave=True),
    "etcdserver: request timed out": _Meaning(_UNKNOWN, DeadlineExceeded),
    "etcdserver: request timed out, possibly due to previous leader failure": _Meaning(_UNKNOWN, DeadlineExceeded),
    "etcdserver: request timed out, possibly due to connection lost": _Meaning(_UNKNOWN, DeadlineExceeded),
    "etcdserver: request timed out, waiting for the applied index took too long": _Meaning(_UNKNOWN, DeadlineExceeded),
    "etcdserver: unhealthy cluster": _Meaning(_UNKNOWN, Unavailable),
}

NOT_CONNECTED = "failed to connect to all addresses"
_NEVER_SENT = (NOT_CONNECTED, "DNS resolution failed")
"""The beginnings of gRPC's messages for a request that was not sent, because there was no connection."""

_TOO_LARGE = "grpc: received message larger than max"
"""The beginning of the refusal of etcd's gRPC layer for a message far above the request limit."""

_BY_CODE: dict[Code, _Meaning] = {
    Code.DEADLINE_EXCEEDED: _Meaning(_UNKNOWN, DeadlineExceeded, leave=True),
    Code.UNAVAILABLE: _Meaning(_UNKNOWN, Unavailable, leave=True),
    Code.UNAUTHENTICATED: _Meaning(_RENEW, Unauthenticated),
    Code.PERMISSION_DENIED: _Meaning(_REFUSED, Unauthenticated),
    Code.INVALID_ARGUMENT: _Meaning(_REFUSED, InvalidOptions),
}
_OTHERWISE = _Meaning(_UNKNOWN, Unavailable)


GRPC_EXCEPTIONS = (RpcFailed, asyncio.CancelledError)
"""The exceptions of a call; hand them to `of_exception`."""


def of_exception(error: BaseException) -> Failure:
    """The failure behind an exception of a call.

    A call that waits for a connection is cancelled when its channel is closed. A cancellation of the task itself is
    raised again.
    """
    if isinstance(error, RpcFailed):
        return of_answer(error.code, error.details)
    task = asyncio.current_task()
    if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
        raise error
    return Failure(Effect.UNKNOWN, Unavailable("the connection was given up"))


def of_answer(code: Code, message: str) -> Failure:
    """The failure behind a status."""
    meaning = _meaning(code, message)
    return Failure(meaning.effect, meaning.make(message or code.name), leave=meaning.leave)


def of_cancelled_watch(reason: str) -> Failure:
    """The failure behind the reason with which etcd ends a watch.

    It is one of the messages, or Go's text of an error with its code and the message after `desc = `.
    """
    message = reason.rpartition(" desc = ")[2]
    return of_answer(Code.UNKNOWN, message)


def _meaning(code: Code, message: str) -> _Meaning:
    known = _MEANINGS.get(message)
    if known is not None:
        return known
    if message.startswith(_TOO_LARGE):
        return _Meaning(_REFUSED, TooLarge)
    if code is Code.UNAVAILABLE and message.startswith(_NEVER_SENT):
        return _Meaning(_RETRY, Unavailable, leave=True)
    return _BY_CODE.get(code, _OTHERWISE)
