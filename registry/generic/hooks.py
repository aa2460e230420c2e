"""Hooks: what a kind does besides its strategy, because other objects or other stores have to do with it.

Must hold: what was taken for a write is given back when the write fails, and kept when nobody knows whether it did.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.generic.rest import Request
from aio_apiserver.storage.stored_object import Object, StoredObject

T = TypeVar("T")

After = Callable[[StoredObject], Awaitable[None]]


async def _nothing(_stored: StoredObject) -> None:
    """The After hook that does nothing."""


class Transaction(Protocol):
    """What was taken for a write that is about to be made. Neither way of ending it may fail."""

    async def commit(self) -> None:
        """The write has taken effect: give back what the object does not use any more."""
        ...

    async def revert(self) -> None:
        """The write has failed: give back what was taken for it."""
        ...


BeginCreate = Callable[[Object, bool], Awaitable[Transaction]]
"""Takes what a new object needs, and puts it into the object; on a dry run (the second argument) it takes nothing."""
BeginUpdate = Callable[[Object, Object, bool], Awaitable[Transaction]]
"""The same for a changed object, from the old one."""


Check = Callable[[Request, str, Object, Object | None], Awaitable[Sequence[FieldError]]]
"""What is wrong with an object that its strategy cannot know: other objects, or the rights of who writes it, have to do
with it. Takes the request, the subresource, the object and what it was; the strategy finds it as `context.found`.
"""


class Hooks(Struct, frozen=True, kw_only=True):
    """What a kind does besides: before its objects are validated, and when a write has taken effect.

    after_delete never runs on a dry run.
    """

    check: Check | None = None
    begin_create: BeginCreate | None = None
    begin_update: BeginUpdate | None = None
    after_delete: After = _nothing


class Taken:
    """The transaction of one write, which may be tried several times. Must hold: at most one is open.

    A write with an unknown outcome keeps what was taken for it: taken for nothing is better than given twice.
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
        """The result of the write, after which the transaction is ended."""
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
