"""Patch: PATCH, changes an object by a JSON patch, merge patch, strategic merge patch or apply configuration.

Must hold: the media type is checked first.
"""

from aiohttp import hdrs, web

from aio_apiserver.apiserver.handlers import audit_objects, output
from aio_apiserver.apiserver.handlers.rest_request import write_request
from aio_apiserver.apiserver.wire import bodies, parameters
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.route_errors import RouteUnsupportedMediaType
from aio_apiserver.base import tracing
from aio_apiserver.registry.generic.bodies import patch_types, patching
from aio_apiserver.registry.generic.bodies.patch_types import Apply, Patch, PatchType
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.options import PatchOptions, UpdateOptions, check_patch
from aio_apiserver.registry.generic.rest import Updater
from aio_apiserver.registry.generic.served import Served


async def handle(request: web.BaseRequest, context: RequestContext, served: Served[Updater]) -> web.StreamResponse:
    """Read the patch and update the object."""
    step = tracing.current().step
    kind = patch_type(request.headers.get(hdrs.CONTENT_TYPE, ""), served.kind)
    chosen = output.negotiated(context, served)
    body = await bodies.read(request)
    step("limitedReadBody succeeded", {"len": len(body)})
    options = parameters.patch_options(context.query)
    is_apply = isinstance(kind, Apply)
    check_patch(options, is_apply=is_apply)
    await audit_objects.sent_patch(context, body)
    patch = Patch(body, options.field_validation, context.warnings.add)
    write, name = write_request(request, context, served, size=len(body)), context.info.name
    updated = patching.updated(kind, patch, served, write, name, options=options)
    result = await served.storage.update(write, name, updated, _update_options(options), force_create=is_apply)
    step("Object stored in database")
    status = 201 if result.is_created else 200
    return await output.respond_object(request, context, served, result.stored, chosen, status=status)


def patch_type(content_type: str, kind: Kind) -> PatchType:
    """The type of a patch. Raises RouteUnsupportedMediaType, UnsupportedMediaType.

    Built-in resources answer a media type that no patch has with a 415 of their route.
    """
    if not kind.is_custom and not has_route(content_type, kind):
        raise RouteUnsupportedMediaType
    return patch_types.patch_type(content_type.partition(";")[0], kind)


def has_route(content_type: str, kind: Kind) -> bool:
    """Whether a built-in resource has a route for patches of a media type."""
    named = {part.partition(";")[0].strip() for part in content_type.split(",")}
    return not named.isdisjoint(patch_types.media_types_of(kind))


def _update_options(options: PatchOptions) -> UpdateOptions:
    return UpdateOptions(
        dry_run=options.dry_run, field_manager=options.field_manager, field_validation=options.field_validation
    )
