"""Create: POST, a new object, or the answer of a resource without stored objects (a review, a binding)."""

from aiohttp import web

from aio_apiserver.apiserver.handlers import audit_objects, output
from aio_apiserver.apiserver.handlers.rest_request import write_request
from aio_apiserver.apiserver.wire import bodies, parameters
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.base import tracing
from aio_apiserver.registry.base import owner_references
from aio_apiserver.registry.generic.bodies import contents, decoding
from aio_apiserver.registry.generic.options import check_create
from aio_apiserver.registry.generic.rest import Creater
from aio_apiserver.registry.generic.served import Served


async def handle(request: web.BaseRequest, context: RequestContext, served: Served[Creater]) -> web.StreamResponse:
    """Decode the body and create the object."""
    step = tracing.current().step
    chosen = output.negotiated(context, served)
    body = await bodies.read_typed(request, context)
    step("limitedReadBody succeeded", {"len": len(body.text)})
    contents.check_media_type(body)
    options = parameters.create_options(context.query)
    check_create(options)
    given = await decoding.decode_object(body, served, field_validation=options.field_validation)
    step("Conversion done")
    obj = given.obj
    audit_objects.sent(context, served, given)
    owner_references.drop_duplicates(obj["metadata"], context.warnings.add, is_after_admission=False)
    write = write_request(request, context, served, size=len(body.text), empties=given.empties)
    step("About to store object in database")
    created = await served.storage.create(write, obj, options, name=context.info.name)
    step("Write to database call succeeded")
    return await output.respond_object(request, context, served, created, chosen, status=201)
