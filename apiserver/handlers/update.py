"""Update: PUT, replaces the state of an object by the one in the body."""

from aiohttp import web
from msgspec import Struct

from aio_apiserver.apiserver.handlers import audit_objects, output
from aio_apiserver.apiserver.handlers.rest_request import write_request
from aio_apiserver.apiserver.wire import bodies, parameters
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.base import tracing
from aio_apiserver.registry.base import objects, owner_references
from aio_apiserver.registry.generic import url_names
from aio_apiserver.registry.generic.bodies import decoding
from aio_apiserver.registry.generic.options import check_update
from aio_apiserver.registry.generic.rest import Made, UpdatedObject, Updater
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery.schema import Decoded
from aio_apiserver.storage.interface import Preconditions
from aio_apiserver.storage.stored_object import StoredObject


async def handle(request: web.BaseRequest, context: RequestContext, served: Served[Updater]) -> web.StreamResponse:
    """Decode the body and update the object."""
    step = tracing.current().step
    chosen = output.negotiated(context, served)
    options = parameters.update_options(context.query)
    body = await bodies.read_typed(request, context)
    step("limitedReadBody succeeded", {"len": len(body.text)})
    check_update(options)
    given = await decoding.decode_object(body, served, field_validation=options.field_validation)
    step("Conversion done")
    obj, name = given.obj, context.info.name
    audit_objects.sent(context, served, given)
    write = write_request(request, context, served, size=len(body.text))
    url_names.settle(obj, write, served.kind, name)
    owner_references.drop_duplicates(obj["metadata"], context.warnings.add, is_after_admission=False)
    uid = obj["metadata"].get("uid")
    updated = UpdatedObject(_Replacement(given).make, Preconditions(uid=uid) if uid else None)
    step("About to store object in database")
    result = await served.storage.update(write, name, updated, options)
    step("Write to database call succeeded")
    status = 201 if result.is_created else 200
    return await output.respond_object(request, context, served, result.stored, chosen, status=status)


class _Replacement(Struct, frozen=True):
    """The object of the body. Each attempt gets a copy, because it changes the object."""

    given: Decoded

    async def make(self, _current: StoredObject | None) -> Made:
        return Made(objects.clone(self.given.obj), self.given.empties)
