"""patch: an object changed by what a client says of it, in one of several languages.

Must hold: the media type is looked at before anything else, the object before the patch; a patch is applied to the
state that it replaces, so it is applied again after a conflict.
"""

from collections.abc import Awaitable, Callable

from aiohttp import hdrs, web
from msgspec import Struct

from aio_apiserver.apiserver.handlers import output, recorded
from aio_apiserver.apiserver.handlers.rest_request import write_request
from aio_apiserver.apiserver.wire import bodies, parameters
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.golang import json_characters
from aio_apiserver.registry.generic import preparation
from aio_apiserver.registry.generic.bodies.apply import AppliedConfiguration
from aio_apiserver.registry.generic.bodies.patch_types import Patch, Transform, patch_type
from aio_apiserver.registry.generic.options import PatchOptions, UpdateOptions, check_patch
from aio_apiserver.registry.generic.rest import Request, UpdatedObject, Updater
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.storage.aside import aside
from aio_apiserver.storage.stored_object import Object, StoredObject


async def handle(request: web.BaseRequest, context: RequestContext, served: Served[Updater]) -> web.StreamResponse:
    """Read the patch and update."""
    transform = patch_type(request.headers.get(hdrs.CONTENT_TYPE, ""), served.kind)
    chosen = output.negotiated(request, served)
    body = await bodies.read(request)
    options = parameters.patch_options(context.query)
    is_apply = transform is None
    check_patch(options, is_apply=is_apply)
    await recorded.sent_patch(context, body)
    text = body if is_apply else json_characters.readable(body)
    patch = Patch(text, options.field_validation, context.warnings.add)
    asked, name = write_request(request, context, served, size=len(body)), context.info.name
    make: _Make
    if transform is None:
        make = AppliedConfiguration(patch, served, options.field_manager, asked.empties, force=bool(options.force)).make
    else:
        make = _Patched(transform, patch, served, asked, name).make
    updated = UpdatedObject(_Named(make, served, asked, name).make, knows_managers=is_apply)
    result = await served.storage.update(asked, name, updated, _update_options(options), force_create=is_apply)
    status = 201 if result.is_created else 200
    return await output.respond_object(request, context, served, result.stored, chosen, status=status)


def _update_options(options: PatchOptions) -> UpdateOptions:
    return UpdateOptions(
        dry_run=options.dry_run, field_manager=options.field_manager, field_validation=options.field_validation
    )


_Make = Callable[[StoredObject | None], Awaitable[Object]]


class _Patched(Struct, frozen=True):
    """The present object after the patch."""

    transform: Transform
    patch: Patch
    served: Served[Updater]
    request: Request
    name: str

    async def make(self, current: StoredObject | None) -> Object:
        if current is None:
            raise errors.NotFound(self.served.resource, self.name)
        size = len(self.patch.text) + len(current.json)
        made = await aside(lambda: self.transform(self.patch, self.served, current), size)
        self.request.empties[:] = made.empties
        return made.obj


class _Named(Struct, frozen=True):
    """What has been made, which must be the object of the URL."""

    make_any: _Make
    served: Served[Updater]
    request: Request
    name: str

    async def make(self, current: StoredObject | None) -> Object:
        obj = await self.make_any(current)
        uid = obj["metadata"].get("uid")
        if current is None and uid:
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise errors.Conflict(self.served.resource, self.name, why=why)
        preparation.settle_namespace(obj, self.request, self.served.kind)
        self._check_name(obj["metadata"].get("name", ""))
        return obj

    def _check_name(self, name: str) -> None:
        if not name:
            why = f"the name of the object ({self.name} based on URL) was undeterminable: name must be provided"
            raise BadRequest(why)
        if name != self.name:
            raise BadRequest(f"the name of the object ({name}) does not match the name on the URL ({self.name})")
