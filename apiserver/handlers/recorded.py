"""Recorded: what handlers know of bodies, for the record of the request, if there is one.

Must hold: nothing is decoded, copied or encoded unless the level of the record wants it.
"""

from collections.abc import Mapping
from typing import Any

import orjson

from aio_apiserver.apiserver.wire.context import RequestContext
from aio_apiserver.registry.base import objects
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery.serializers import yaml
from aio_apiserver.storage.stored_object import Object

_DELETE_OPTIONS = {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/__internal"}
"""What options turn out to be when they have been read, whatever they were called before."""


def sent(context: RequestContext, served: Served[Any], obj: Object) -> None:
    """The hub object in a body, before anything becomes of it."""
    trail = context.trail
    if trail is None:
        return
    trail.refer(obj["metadata"])
    if trail.has_request:
        trail.requested(served.view.versioned(objects.clone(obj)))


def sent_options(context: RequestContext, value: Mapping[str, Any]) -> None:
    """The options in a body."""
    if context.trail is not None:
        context.trail.requested({**value, **_DELETE_OPTIONS})


async def sent_patch(context: RequestContext, text: bytes) -> None:
    """A patch as it was sent; one that cannot be read is not recorded."""
    trail = context.trail
    if trail is None or not trail.has_request:
        return
    try:
        trail.patched(orjson.loads(text))
    except orjson.JSONDecodeError:
        await _sent_yaml(context, text)


async def _sent_yaml(context: RequestContext, text: bytes) -> None:
    assert context.trail is not None
    try:
        document = await yaml.read_in_turn(text, context.user.name)
    except ValueError:
        return
    context.trail.patched(document.value)


def answered_json(context: RequestContext, body: bytes) -> None:
    """The JSON of an answer."""
    if context.trail is not None and context.trail.has_response:
        context.trail.answered(orjson.loads(body))
