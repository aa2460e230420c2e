"""Audit objects: adds request and response objects to the audit event.

Must hold: nothing is decoded, copied or encoded unless the audit level needs it.
"""

from typing import Any

import orjson

from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import empties, objects
from aio_apiserver.registry.generic.bodies import delete_options
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery.schema import Decoded
from aio_apiserver.registry.machinery.serializers import yaml


def sent(context: RequestContext, served: Served[Any], given: Decoded) -> None:
    """Record the decoded body, before admission and defaults of the strategy change it."""
    trail = context.trail
    if trail is None:
        return
    trail.refer(given.obj["metadata"])
    if trail.has_request:
        printed = served.view.printed(objects.clone(given.obj))
        empties.show(printed, given.empties)
        if kind := given.obj.get("kind"):
            printed["kind"] = kind  # a custom resource of a wrong kind is refused later
        trail.requested(printed)


def sent_options(context: RequestContext, served: Served[Any], options: Object) -> None:
    """Record the decoded options of a body."""
    if context.trail is not None and context.trail.has_request:
        context.trail.requested(delete_options.internal(options, served.types))


async def sent_patch(context: RequestContext, text: bytes) -> None:
    """Record a patch. A patch that cannot be parsed is not recorded."""
    trail = context.trail
    if trail is None or not trail.has_request:
        return
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        await _sent_yaml(context, text)
    else:
        trail.patched(text)


async def _sent_yaml(context: RequestContext, text: bytes) -> None:
    assert context.trail is not None
    try:
        document = await yaml.read_in_turn(text, context.user.name)
    except ValueError:
        return
    context.trail.patched(document.json)


def answered_json(context: RequestContext, body: bytes) -> None:
    """Record the JSON of a response."""
    if context.trail is not None and context.trail.has_response:
        context.trail.answered(orjson.loads(body))
