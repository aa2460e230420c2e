"""Contents: the map in a request body in JSON, YAML or protobuf, with its stated type; not yet decoded.

Must hold: for any bytes, the outcome is a map with its type, or UnreadableBody with kube-apiserver's message.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.base import worker_thread
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.golang import json_characters, json_errors
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.schema import Catalog, DecodeError, depth
from aio_apiserver.registry.machinery.schema.scalars import json_type
from aio_apiserver.registry.machinery.serializers import protobuf, yaml

NOT_AN_OBJECT = (
    "json: cannot unmarshal {found} into Go value of type struct "
    '{{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }}'
)
_NO_TYPE = "couldn't get version/kind; json parse error: "
_MEMBERS = {"apiVersion": "apiVersion", "apiversion": "apiVersion", "kind": "kind"}


class UnreadableBody(ValueError):
    """A body that is not an object, or whose apiVersion or kind is malformed."""


class Body(Struct, frozen=True):
    """A request body, the function for its warnings, and the user in whose share long work is queued."""

    text: bytes
    media_type: str
    user: str
    warn: Callable[[str], None]


class BodyContent(Struct, frozen=True):
    """A map, and the strict decoding errors of the client's text.

    text: the JSON that it was read from. text_of: makes that JSON for a map from YAML.
    """

    value: dict[str, Any]
    text: bytes = b""
    text_of: Callable[[], bytes] | None = None
    strict_errors: tuple[str, ...] = ()

    def type(self) -> tuple[str, str, str]:
        """The stated group, version and kind, whatever the case of the keys; each may be empty.

        Raises UnreadableBody.
        """
        stated = {}
        for key, one in self.value.items():
            member = _MEMBERS.get(key) or _MEMBERS.get(key.lower())
            if member is None or one is None:
                continue
            if not isinstance(one, str):
                why = f"json: cannot unmarshal {json_type(one)} into Go struct field .{member} of type string"
                raise UnreadableBody(_NO_TYPE + why)
            stated[member] = one
        api_version = stated.get("apiVersion", "")
        group, _, version = api_version.rpartition("/")
        if "/" in group:
            raise UnreadableBody(f"unexpected GroupVersion string: {api_version}")
        return group, version, stated.get("kind", "")


def check_media_type(body: Body) -> None:
    """Raises UnsupportedMediaType for a body in no format of objects."""
    if body.media_type not in media_types.OF_OBJECTS:
        raise errors.UnsupportedMediaType(media_types.OF_OBJECTS)


async def read(body: Body, types: Catalog, expected: GroupVersionKind) -> BodyContent:
    """The content of a body. Raises UnreadableBody, UnsupportedMediaType."""
    match body.media_type:
        case media_types.JSON:
            return await worker_thread.run_sized(partial(_json, body.text), len(body.text), body.user)
        case media_types.YAML:
            document = await _yaml(body)
            return BodyContent(
                _map_of(document.value), text_of=lambda: document.json, strict_errors=document.strict_errors
            )
        case media_types.PROTOBUF:
            work = partial(_protobuf, body.text, types, expected)
            return await worker_thread.run_sized(work, len(body.text), body.user)
    raise errors.UnsupportedMediaType(media_types.OF_OBJECTS)


def _json(body: bytes) -> BodyContent:
    """The content of a JSON body. Raises UnreadableBody."""
    text = json_characters.readable(body)
    value = _parsed(text, body)
    return BodyContent(value if type(value) is dict else _map_of(value), text)


def _protobuf(body: bytes, types: Catalog, expected: GroupVersionKind) -> BodyContent:
    """The content of a protobuf body. Raises UnreadableBody."""
    try:
        value = protobuf.to_value(body, types, expected)
    except ValueError as exc:
        raise UnreadableBody(str(exc)) from exc
    _check_depth(value)
    return BodyContent(value)


async def _yaml(body: Body) -> "yaml.YamlDocument":
    try:
        document = await yaml.read_in_turn(body.text, body.user)
    except ValueError as exc:
        raise UnreadableBody(str(exc)) from exc
    await worker_thread.run_sized(partial(_check_depth, document.value), len(body.text), body.user)
    return document


def _check_depth(value: Any, text: bytes = b"") -> None:
    try:
        depth.check(value, text)
    except DecodeError as exc:
        raise UnreadableBody(_NO_TYPE + exc.message) from exc


def _parsed(text: bytes, sent: bytes) -> Any:
    """The value of a text. sent: what the client has sent, for the message about a byte that is no UTF-8."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        raise UnreadableBody(_NO_TYPE + (json_errors.describe(sent) or str(exc))) from exc
    if text.count(b"{") + text.count(b"[") > depth.MOST:
        _check_depth(value, text)
    return value


def _map_of(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UnreadableBody(_NO_TYPE + NOT_AN_OBJECT.format(found=json_type(value)))
    return value
