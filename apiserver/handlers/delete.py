"""Delete: DELETE, remove an object, or mark it as terminating."""

from typing import Any

from aiohttp import web

from aio_apiserver.apiserver.handlers import delete_options, output
from aio_apiserver.apiserver.handlers.rest_request import rest_request
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.base import tracing
from aio_apiserver.registry.generic.options import DeleteOptions, check_delete
from aio_apiserver.registry.generic.rest import Deleted, Deleter
from aio_apiserver.registry.generic.served import Served


async def handle(request: web.BaseRequest, context: RequestContext, served: Served[Deleter]) -> web.StreamResponse:
    """Delete the object. The response is the object, or a Status about it."""
    step = tracing.current().step
    chosen = output.negotiated(context, served)
    options = await delete_options.read(request, context, served)
    check_delete(options)
    step("About to delete object from database")
    deleted = await served.storage.delete(rest_request(context, served), context.info.name, options)
    step("Object deleted from database")
    status = _status_code(deleted, options)
    if deleted.is_gone and not (served.kind.returns_deleted_object and deleted.is_readable):
        success = _success(served, deleted) if deleted.is_readable else _unseen_success(context, served)
        return await output.respond_value(request, context, success, chosen, types=served.types, status=status)
    return await output.respond_object(request, context, served, deleted.stored, chosen, status=status)


def _status_code(deleted: Deleted, options: DeleteOptions) -> int:
    """202 just for `orphanDependents: false`, the oldest form of foreground deletion. Other clients have always seen
    200.
    """
    return 202 if not deleted.is_gone and options.orphan_dependents is False else 200


def _success(served: Served[Deleter], deleted: Deleted) -> dict[str, Any]:
    metadata = deleted.stored.decode()["metadata"]
    details = {"name": metadata["name"], "group": served.resource.group, "kind": served.resource.resource}
    details = {name: value for name, value in details.items() if value}
    if metadata.get("uid"):
        details["uid"] = metadata["uid"]
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details}


def _unseen_success(context: RequestContext, served: Served[Deleter]) -> dict[str, Any]:
    """The answer about an object that could not be read."""
    kind = served.storage.object_kind(context.info.version)
    details = {"name": context.info.name, "group": kind.group, "kind": kind.kind}
    details = {name: value for name, value in details.items() if value}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
        "code": 200,
    }
