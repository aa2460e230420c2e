"""Versioned attributes: the objects of a write in the version that a webhook's rules name.

Must hold: a webhook sees the changes of the webhooks before it, in any version. The hub object is updated when another
version is needed, and at the end.
"""

from collections.abc import Awaitable
from typing import TypeVar

from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import InternalError
from aio_apiserver.registry.generic.admission.form import AdmissionForm
from aio_apiserver.registry.generic.admission.interface import Attributes
from aio_apiserver.registry.machinery.schema import DecodeError
from aio_apiserver.storage.errors import StorageError

T = TypeVar("T")


class VersionedAttributes(Struct):
    """The objects of a write in one form. `is_changed`: `obj` has changes that the write's own object lacks."""

    form: AdmissionForm
    obj: Object | None
    old: Object | None
    is_changed: bool = False

    def take(self, parsed: Object) -> None:
        """Set the changed object, with defaults."""
        self.obj = self.form.defaulted(parsed)
        self.is_changed = True

    async def write_back(self, attributes: Attributes) -> None:
        """Copy the changes into the write's own object. Raises InternalError."""
        if not self.is_changed:
            return
        assert attributes.obj is not None
        assert self.obj is not None
        hub = await _converted(self.form.hub(self.obj))
        attributes.obj.clear()
        attributes.obj.update(hub)
        self.is_changed = False


async def convert(attributes: Attributes, form: AdmissionForm) -> VersionedAttributes:
    """A write in a form. Raises InternalError."""
    was = await _converted(form.versioned(attributes.old)) if attributes.old is not None else None
    obj = await _converted(form.versioned(attributes.obj)) if attributes.obj is not None else None
    return VersionedAttributes(form, obj, was)


async def _converted(work: Awaitable[T]) -> T:
    try:
        return await work
    except DecodeError as exc:
        raise InternalError(exc.message) from exc
    except StorageError as exc:
        raise InternalError(str(exc)) from exc
