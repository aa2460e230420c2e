"""Shown: a write as webhooks see it, in the version that their rules name.

Must hold: what one webhook has made is what the next one sees, whatever its version; the hub object changes only when
it has to be seen in another version, and in the end.
"""

from collections.abc import Awaitable
from typing import TypeVar

from msgspec import Struct

from aio_apiserver.registry.base.errors import InternalError
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.machinery.schema import DecodeError
from aio_apiserver.storage.errors import StorageError
from aio_apiserver.storage.stored_object import Object

T = TypeVar("T")


class Shown(Struct):
    """The objects of a write in one form. `is_changed`: `obj` is ahead of the write's own."""

    form: AdmissionForm
    obj: Object | None
    old: Object | None
    is_changed: bool = False

    def take(self, parsed: Object) -> None:
        """Go on with what a webhook has made, with its defaults."""
        self.obj = self.form.defaulted(parsed)
        self.is_changed = True

    async def write_back(self, attributes: Attributes) -> None:
        """Bring the write up to what was made. Raises InternalError."""
        if not self.is_changed:
            return
        assert attributes.obj is not None
        assert self.obj is not None
        hub = await _converted(self.form.hub(self.obj))
        attributes.obj.clear()
        attributes.obj.update(hub)
        self.is_changed = False


async def shown(attributes: Attributes, form: AdmissionForm) -> Shown:
    """A write in a form. Raises InternalError."""
    was = await _converted(form.shown(attributes.old)) if attributes.old is not None else None
    obj = await _converted(form.shown(attributes.obj)) if attributes.obj is not None else None
    return Shown(form, obj, was)


async def _converted(work: Awaitable[T]) -> T:
    try:
        return await work
    except DecodeError as exc:
        raise InternalError(exc.message) from exc
    except StorageError as exc:
        raise InternalError(str(exc)) from exc
