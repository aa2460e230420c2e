"""Output: writes objects and lists as a response in the negotiated format.

Plain JSON is a short path: a prefix, the stored JSON, a newline. Protobuf and lists as tables or partial metadata are
joined from the cached encodings of each object (object_encoders.py). YAML and indented JSON decode each object.

Must hold: plain JSON is written without decoding. Of a long list, in any format, a part is in memory
(list_bodies.py). A large body is compressed, and YAML encoded, in a worker thread, when the client accepts that format.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

from aiohttp import hdrs, web

from aio_apiserver.apiserver.handlers import audit_objects, list_bodies, list_texts, object_encoders, transforms
from aio_apiserver.apiserver.handlers.list_bodies import Listed
from aio_apiserver.apiserver.handlers.object_encoders import JsonList
from aio_apiserver.apiserver.handlers.transforms import Transform
from aio_apiserver.apiserver.wire import negotiation, responses, route_errors
from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.apiserver.wire.long_bodies import CompressedBody, JoinedList, LongBody, gzipped
from aio_apiserver.apiserver.wire.negotiation import Format
from aio_apiserver.apiserver.wire.single_write import SingleWriteResponse, can_answer
from aio_apiserver.base import tracing, worker_thread
from aio_apiserver.base.tracing import TraceLayer
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.schema import Catalog
from aio_apiserver.registry.machinery.serializers import protobuf, yaml
from aio_apiserver.storage.interface import ListResult
from aio_apiserver.storage.stored_object import StoredObject, json_of_all

_GZIP_FROM_BYTES = 128 * 1024


def negotiated(
    context: RequestContext, served: Served[Any], *, written: Sequence[str] = media_types.OF_OBJECTS
) -> Format:
    """The format of a response about this resource. written: the media types in its 406. Raises NotAcceptable."""
    return context.head.formats.get(served.formats) or _negotiated(context, served, written)


def _negotiated(context: RequestContext, served: Served[Any], written: Sequence[str]) -> Format:
    accept = context.head.accept
    if not negotiation.is_served(accept) and not served.kind.is_custom:
        raise route_errors.RouteNotAcceptable(written)
    allowed = negotiation.allows(has_tables=served.has_tables, has_messages=served.has_messages)
    chosen = negotiation.negotiate(accept, media_types.OF_OBJECTS, allowed)
    if chosen is None:
        raise errors.NotAcceptable(media_types.OF_OBJECTS)
    context.head.formats[served.formats] = chosen
    return chosen


async def respond_object(
    request: web.BaseRequest,
    context: RequestContext,
    served: Served[Any],
    found: StoredObject | Object,
    chosen: Format,
    *,
    status: int = 200,
) -> web.StreamResponse:
    """Write one object. A dict has its type already; a StoredObject gets it here."""
    if not isinstance(found, StoredObject) or chosen.target is not None:
        return await _respond_other(request, context, served, found, chosen, status)
    if _is_compact(context, chosen):
        view = served.view
        item = found.json if view.conversion is None else view.item(found)
        body, media_type = b"%b%b\n" % (view.prefix, item[1:]), media_types.JSON
        if context.trail is not None:
            audit_objects.answered_json(context, body)
    elif _is_message(context, chosen):
        body, media_type = object_encoders.message(served, found), media_types.PROTOBUF
    else:
        return await _respond_other(request, context, served, found, chosen, status)
    if len(body) < _GZIP_FROM_BYTES and can_answer(request, context):
        return SingleWriteResponse(context, body, status=status, content_type=media_type)
    return await _respond(request, context, body, media_type=media_type, status=status)


async def _respond_other(
    request: web.BaseRequest,
    context: RequestContext,
    served: Served[Any],
    found: StoredObject | Object,
    chosen: Format,
    status: int,
) -> web.StreamResponse:
    """Write one object that does not go out as its stored JSON or its protobuf message."""
    transform = transforms.of(chosen, context.query)
    obj = found.decode() if isinstance(found, StoredObject) else found
    if transform is not None and obj.get("kind") != "Status":
        with tracing.timed(TraceLayer.TRANSFORMING):
            obj = transforms.one(transform, served, obj)
    elif isinstance(found, StoredObject):
        obj = served.view.versioned(obj)
    return await respond_value(request, context, obj, chosen, types=served.types, status=status)


async def respond_list(
    request: web.BaseRequest, context: RequestContext, served: Served[Any], result: ListResult, chosen: Format
) -> web.StreamResponse:
    """Write a list. Raises NotTransformable."""
    metadata, items = list_metadata(result), result.items
    transform = transforms.of(chosen, context.query)
    if transform is None:
        listed = object_encoders.list_of(served, metadata)
    else:
        with tracing.timed(TraceLayer.TRANSFORMING):
            transformed = object_encoders.transformed_list(transform, served, metadata, items)
            if transformed is None:
                value = await transforms.many(transform, served, metadata, items)
                return await respond_value(request, context, value, chosen, types=served.types)
        listed = transformed
        items = transforms.ordered(served, items) if transform.kind == negotiation.TABLE else items
    is_message, is_compact = chosen.media_type == media_types.PROTOBUF, _is_compact(context, chosen)
    if not (items or is_message or is_compact):
        return await respond_value(request, context, list_texts.without_items(listed), chosen, types=served.types)
    await _record_list(context, listed, items)
    if is_message:
        body = await _message_list(context, served, metadata, items, transform)
    elif is_compact and transform is None and served.view.has_shared_items:
        body = JoinedList(*listed.frame, json_of_all(items), content_type=media_types.JSON).fitting()
    else:
        if not is_compact:
            listed = list_texts.in_lines(listed, chosen.media_type)
        body = await list_bodies.body_of(
            Listed(items, listed.encoder, context.user.name), listed.frame, chosen.media_type
        )
    return await _respond(request, context, body, media_type=chosen.media_type)


async def _record_list(context: RequestContext, listed: JsonList, items: Sequence[StoredObject]) -> None:
    """Add a list to the audit event, if responses are recorded."""
    if context.trail is not None and context.trail.has_response:
        parts = [part async for part in Listed(items, listed.encoder, context.user.name).slices()]
        joined = listed.frame.separator.join([item for part in parts for item in part])
        audit_objects.answered_json(context, listed.frame.head + joined + listed.frame.tail)


async def _message_list(
    context: RequestContext,
    served: Served[Any],
    metadata: Object,
    items: Sequence[StoredObject],
    transform: Transform | None,
) -> bytes | LongBody:
    user = context.user.name
    if transform is None:
        return await object_encoders.message_list(served, metadata, items, user)
    return await object_encoders.partial_message_list(served, transform.api_version, metadata, items, user)


def list_metadata(result: ListResult) -> dict[str, Any]:
    """The ListMeta of a list."""
    metadata: dict[str, Any] = {"resourceVersion": str(result.revision)} if result.revision else {}
    if result.continue_token:
        metadata["continue"] = result.continue_token
    if result.remaining:
        metadata["remainingItemCount"] = result.remaining
    return metadata


async def respond_value(
    request: web.BaseRequest,
    context: RequestContext,
    value: Object,
    chosen: Format,
    *,
    types: Catalog,
    status: int = 200,
) -> web.StreamResponse:
    """Write an object with its type in the chosen format."""
    if context.trail is not None:
        context.trail.answered(value)
    if chosen.media_type == media_types.YAML:
        text = await yaml.dump_in_turn(value, context.user.name)
        return await _respond(request, context, text, media_type=media_types.YAML, status=status)
    if chosen.media_type == media_types.PROTOBUF:
        message = protobuf.dump(value, types)
        return await _respond(request, context, message, media_type=media_types.PROTOBUF, status=status)
    body = responses.dump(value, is_pretty=chosen.is_pretty or responses.is_pretty(context))
    return await _respond(request, context, body, media_type=media_types.JSON, status=status)


def _is_compact(context: RequestContext, chosen: Format) -> bool:
    """Whether the client gets JSON in one line."""
    if chosen.media_type != media_types.JSON or chosen.is_pretty:
        return False
    return not (context.query or context.head.is_of_people) or not responses.is_pretty(context)


def _is_message(context: RequestContext, chosen: Format) -> bool:
    """Whether the client gets protobuf, and the audit event does not need the object."""
    if chosen.media_type != media_types.PROTOBUF:
        return False
    return context.trail is None or not context.trail.has_response


async def _respond(
    request: web.BaseRequest, context: RequestContext, body: bytes | LongBody, *, media_type: str, status: int = 200
) -> web.StreamResponse:
    if isinstance(body, bytes) and len(body) < _GZIP_FROM_BYTES:
        if can_answer(request, context):
            return SingleWriteResponse(context, body, status=status, content_type=media_type)
        return responses.raw(context, body, status=status, content_type=media_type)
    if not _wants_gzip(request):
        return responses.raw(context, body, status=status, content_type=media_type)
    user = context.user.name
    compressed = (
        await worker_thread.run_without_interpreter(partial(gzipped, body), user)
        if isinstance(body, bytes)
        else CompressedBody(body, content_type=media_type, user=user)
    )
    response = responses.raw(context, compressed, status=status, content_type=media_type)
    response.headers[hdrs.CONTENT_ENCODING] = "gzip"
    response.headers[hdrs.VARY] = hdrs.ACCEPT_ENCODING
    return response


def _wants_gzip(request: web.BaseRequest) -> bool:
    """Whether the client names gzip without a weight: kube-apiserver ignores `gzip;q=0` and `gzip;q=1` alike."""
    offered = request.headers.get(hdrs.ACCEPT_ENCODING, "").split(",")
    return any(one.strip() == "gzip" for one in offered)
