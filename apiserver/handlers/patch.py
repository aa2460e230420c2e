"""patch: an object changed by what a client says of it, in one of several languages.

Must hold: the media type is looked at before anything else, the object before the patch; a patch is applied to the
state that it replaces, so it is applied again after a conflict.
"""

from dataclasses import dataclass

from aiohttp import hdrs, web

from apiserver import bodies, parameters
from apiserver.context import RequestContext
from apiserver.handlers import output
from apiserver.handlers.patch_types import Apply, Patch, patch_type
from apiserver.handlers.rest_request import rest_request
from apiserver.handlers.served import Served
from registry import errors, rest
from registry.errors import BadRequest
from registry.options import PatchOptions, UpdateOptions, check_patch
from registry.rest import Request, UpdatedObject, Updater
from storage.stored_object import Object, StoredObject


async def handle(request: web.BaseRequest, context: RequestContext, served: Served[Updater]) -> web.StreamResponse:
    """Read the patch and update."""
    apply = patch_type(request.headers.get(hdrs.CONTENT_TYPE, ""), served.kind)
    chosen = output.negotiated(request, served)
    body = await bodies.read(request)
    options = parameters.patch_options(context.query)
    check_patch(options, is_apply=False)
    patch = Patch(body, options.field_validation, context.warnings.add)
    asked, name = rest_request(context, served), context.info.name
    updated = UpdatedObject(_Patched(apply, patch, served, asked, name).make)
    result = await served.storage.update(asked, name, updated, _update_options(options))
    return await output.respond_object(request, context, served, result.stored, chosen)


def _update_options(options: PatchOptions) -> UpdateOptions:
    return UpdateOptions(
        dry_run=options.dry_run, field_manager=options.field_manager, field_validation=options.field_validation
    )


@dataclass(frozen=True, slots=True)
class _Patched:
    """The present object after the patch, which must still be the object of the URL."""

    apply: Apply
    patch: Patch
    served: Served[Updater]
    request: Request
    name: str

    async def make(self, current: StoredObject | None) -> Object:
        if current is None:
            raise errors.NotFound(self.served.resource, self.name)
        obj = self.apply(self.patch, self.served, current)
        rest.settle_namespace(obj, self.request, self.served.kind)
        self._check_name(obj["metadata"].get("name", ""))
        return obj

    def _check_name(self, name: str) -> None:
        if not name:
            why = f"the name of the object ({self.name} based on URL) was undeterminable: name must be provided"
            raise BadRequest(why)
        if name != self.name:
            raise BadRequest(f"the name of the object ({name}) does not match the name on the URL ({self.name})")
