"""Contents: what is in a body, of whatever type, before anybody asks whether it fits.

Must hold: whatever bytes come, the outcome is a map with the type that it states, or Unreadable, which says why in
kube-apiserver's words.
"""

import asyncio
from typing import Any, NamedTuple

import orjson
from aiohttp import hdrs, web

from aio_apiserver.apiserver.wire import negotiation
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang import json_characters, json_errors
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery.schema import Catalog
from aio_apiserver.registry.machinery.schema.scalars import json_type
from aio_apiserver.registry.machinery.serializers import protobuf, yaml

NOT_AN_OBJECT = (
    "json: cannot unmarshal {found} into Go value of type struct "
    '{{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }}'
)
_NO_TYPE = "couldn't get version/kind; json parse error: "
_MEMBERS = {"apiVersion": "apiVersion", "apiversion": "apiVersion", "kind": "kind"}
_THREAD_FROM_BYTES = 16 * 1024


class Unreadable(ValueError):
    """Bytes that are no object, or one that does not say properly what it is."""


class Content(NamedTuple):
    """A map, its JSON text if it has one, and what a strict reader has against the text that the client wrote."""

    value: dict[str, Any]
    text: bytes = b""
    strict_errors: tuple[str, ...] = ()

    def type(self) -> tuple[str, str, str]:
        """The group, the version and the kind that it states, in whatever letters; each may be empty.

        Raises Unreadable.
        """
        stated = {}
        for key, one in self.value.items():
            member = _MEMBERS.get(key) or _MEMBERS.get(key.lower())
            if member is None or one is None:
                continue
            if not isinstance(one, str):
                why = f"json: cannot unmarshal {json_type(one)} into Go struct field .{member} of type string"
                raise Unreadable(_NO_TYPE + why)
            stated[member] = one
        api_version = stated.get("apiVersion", "")
        group, _, version = api_version.rpartition("/")
        if "/" in group:
            raise Unreadable(f"unexpected GroupVersion string: {api_version}")
        return group, version, stated.get("kind", "")


async def read(body: bytes, request: web.BaseRequest, types: Catalog, expected: GroupVersionKind) -> Content:
    """What is in a body. Raises Unreadable, UnsupportedMediaType."""
    media_type = request.headers.get(hdrs.CONTENT_TYPE, "").partition(";")[0].strip().lower() or negotiation.JSON
    match media_type:
        case negotiation.JSON:
            text = json_characters.readable(body)
            return Content(_parsed(text), text)
        case negotiation.YAML:
            document = await _yaml(body)
            return Content(_parsed(document.json), document.json, document.strict_errors)
        case negotiation.PROTOBUF:
            try:
                return Content(protobuf.to_value(body, types, expected))
            except ValueError as exc:
                raise Unreadable(str(exc)) from exc
    raise errors.UnsupportedMediaType(negotiation.MEDIA_TYPES)


async def _yaml(body: bytes) -> "yaml.Document":
    """A document of YAML; a long one does not hold up the event loop."""
    try:
        return yaml.read(body) if len(body) < _THREAD_FROM_BYTES else await asyncio.to_thread(yaml.read, body)
    except ValueError as exc:
        raise Unreadable(str(exc)) from exc


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise Unreadable(_NO_TYPE + (json_errors.describe(text) or str(exc))) from exc
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Unreadable(_NO_TYPE + NOT_AN_OBJECT.format(found=json_type(value)))
    return value
