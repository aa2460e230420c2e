"""Patching: an update whose new state comes from a patch or an apply, in any format.

Must hold: the object is read before the patch. A patch is applied to the state that it replaces, and again after a
conflict. Its result is the object of the URL.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.base import worker_thread
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang import json_characters
from aio_apiserver.registry.generic import url_names
from aio_apiserver.registry.generic.bodies import patch_types
from aio_apiserver.registry.generic.bodies.apply import AppliedConfiguration, ApplyWords
from aio_apiserver.registry.generic.bodies.patch_types import Apply, Patch, PatchType, Transform
from aio_apiserver.registry.generic.options import PatchOptions
from aio_apiserver.registry.generic.rest import Made, Request, UpdatedObject, Updater
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.storage.stored_object import StoredObject

_Make = Callable[[StoredObject | None], Awaitable[Made]]


def updated(
    kind: PatchType, patch: Patch, served: Served[Updater], request: Request, name: str, *, options: PatchOptions
) -> UpdatedObject:
    """The object of a URL after a patch. Raises BadRequest for a text that is not JSON."""
    if isinstance(kind, Apply):
        owners = served.storage.field_manager(served.version)
        make: _Make = AppliedConfiguration(
            patch,
            owners,
            options.field_manager,
            request.user.name,
            force=bool(options.force),
            words=ApplyWords.at(served.types.version),
        ).make
    else:
        text = json_characters.readable(patch.text)
        if served.types.version >= patch_types.CHECKED_FIRST and not _is_json(text):
            raise errors.BadRequest("invalid JSON patch")
        if text != patch.text and not _is_json(text):
            text = patch.text  # the message names the byte that the client has sent
        make = _Patched(kind, replace(patch, text=text), served, request, name).make
    return UpdatedObject(_Named(make, served, request, name).make)


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


class _Patched(Struct, frozen=True):
    """The present object after the patch."""

    transform: Transform
    patch: Patch
    served: Served[Any]
    request: Request
    name: str

    async def make(self, current: StoredObject | None) -> Made:
        if current is None:
            raise errors.NotFound(self.served.resource, self.name)
        size = len(self.patch.text) + len(current.json)
        work = partial(self.transform, self.patch, self.served, current)
        decoded = await worker_thread.run_sized(work, size, self.request.user.name)
        return Made(decoded.obj, decoded.empties)


class _Named(Struct, frozen=True):
    """The result of a patch, checked against the name in the URL."""

    make_any: _Make
    served: Served[Any]
    request: Request
    name: str

    async def make(self, current: StoredObject | None) -> Made:
        made = await self.make_any(current)
        uid = made.obj["metadata"].get("uid")
        if current is None and uid:
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise errors.Conflict(self.served.resource, self.name, why=why)
        url_names.settle(made.obj, self.request, self.served.kind, self.name)
        return made
