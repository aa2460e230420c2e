"""Hooks: a kind's code that runs around its writes and needs other objects, such as the allocation of ClusterIPs.

Must hold: a failed write releases what it has allocated. A write with an unknown outcome keeps it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.storage.stored_object import StoredObject

T = TypeVar("T")

After = Callable[[StoredObject], Awaitable[None]]


async def _nothing(_stored: StoredObject) -> None:
    """The After hook that does nothing."""


class Transaction(Protocol):
    """The allocations of a write that is about to be made. Neither method may fail."""

    async def commit(self) -> None:
        """The write has succeeded: release what the object does not use any more."""
        ...

    async def revert(self) -> None:
        """The write has failed: release its allocations."""
        ...


BeginCreate = Callable[[Object, bool], Awaitable[Transaction]]
"""Allocates for a new object, and sets the values in it; on a dry run (the second argument) it allocates nothing."""
BeginUpdate = Callable[[Object, Object, bool], Awaitable[Transaction]]
"""The same for a changed object, from the old one."""


Check = Callable[[Request, str, Object, Object | None], Awaitable[Sequence[FieldError]]]
"""Field errors that need other objects or the user's rights, which a strategy does not know.

Takes the request, the subresource, the object and its old state; the strategy finds the errors as `context.found`.
"""


class Hooks(Struct, frozen=True, kw_only=True):
    """The hooks of a kind: before an object is validated, and after a write has taken effect.

    after_delete never runs on a dry run.
    """

    check: Check | None = None
    begin_create: BeginCreate | None = None
    begin_update: BeginUpdate | None = None
    after_delete: After = _nothing


class Taken:
    """The transaction of one write, which may be tried several times. Must hold: at most one is open.

    A write with an unknown outcome keeps its allocations: an unused allocation is better than one that is used twice.
    """

    def __init__(self) -> None:
        self._open: Transaction | None = None

    async def take(self, beginning: Awaitable[Transaction]) -> None:
        self._open = await beginning

    async def give_back(self) -> None:
        if self._open is not None:
            transaction, self._open = self._open, None
            await transaction.revert()

    async def around(self, work: Awaitable[T]) -> T:
        """The result of the write, after which the transaction is committed or reverted."""
        try:
            result = await work
        except (errors.Timeout, asyncio.CancelledError):
            raise
        except BaseException:
            await self.give_back()
            raise
        if self._open is not None:
            await self._open.commit()
        return result
