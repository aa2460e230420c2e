"""update: an object replaced by another."""

from aiohttp import web
from msgspec import Struct

from aio_apiserver.apiserver.handlers import output, recorded
from aio_apiserver.apiserver.handlers.rest_request import write_request
from aio_apiserver.apiserver.wire import bodies, parameters
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import objects, owner_references
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.generic.bodies import decoding
from aio_apiserver.registry.generic.options import check_update
from aio_apiserver.registry.generic.rest import UpdatedObject, Updater
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.storage.interface import Preconditions
from aio_apiserver.storage.stored_object import Object, StoredObject


async def handle(request: web.BaseRequest, context: RequestContext, served: Served[Updater]) -> web.StreamResponse:
    """Decode the body and update."""
    chosen = output.negotiated(request, served)
    options = parameters.update_options(context.query)
    body = await bodies.read(request)
    check_update(options)
    given = await decoding.decode_object(body, request, context, served, field_validation=options.field_validation)
    obj = given.obj
    recorded.sent(context, served, obj)
    _check_identity(obj, context)
    owner_references.drop_duplicates(obj["metadata"], context.warnings.add, is_after_admission=False)
    uid = obj["metadata"].get("uid")
    updated = UpdatedObject(_Replacement(obj).make, Preconditions(uid=uid) if uid else None)
    asked = write_request(request, context, served, size=len(body), empties=given.empties)
    result = await served.storage.update(asked, context.info.name, updated, options)
    status = 201 if result.is_created else 200
    return await output.respond_object(request, context, served, result.stored, chosen, status=status)


class _Replacement(Struct):
    """The object of the body; a copy for each attempt, because an attempt changes what it gets."""

    obj: Object

    async def make(self, _current: StoredObject | None) -> Object:
        return objects.clone(self.obj)


def _check_identity(obj: Object, context: RequestContext) -> None:
    """The body must be the object of the URL."""
    metadata, info = obj["metadata"], context.info
    is_elsewhere = metadata.get("namespace") and info.namespace and metadata["namespace"] != info.namespace
    if is_elsewhere and info.resource != "namespaces":
        raise BadRequest("the namespace of the provided object does not match the namespace sent on the request")
    name = metadata.get("name", "")
    if not name:
        raise BadRequest(f"the name of the object ({info.name} based on URL) was undeterminable: name must be provided")
    if name != info.name:
        raise BadRequest(f"the name of the object ({name}) does not match the name on the URL ({info.name})")
