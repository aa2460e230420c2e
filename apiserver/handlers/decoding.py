"""Decoding: request bodies to hub objects and options, with kube-apiserver's words for what is wrong.

Must hold: whatever bytes come, the answer is an object or a StatusError; an object is of the kind and version of its
URL; unknown and duplicate fields are refused, reported or dropped as fieldValidation says.
"""

import asyncio
from functools import partial
from typing import Any, NamedTuple

import orjson
from aiohttp import hdrs, web

from apiserver import bodies, negotiation, parameters
from apiserver.context import RequestContext
from apiserver.handlers import recorded
from apiserver.handlers.other_versions import are_one_kind, is_old
from apiserver.handlers.served import Served
from apiserver.serializers import protobuf, yaml
from registry import errors, json_errors
from registry.names import GroupKind, GroupVersionKind
from registry.options import DeleteOptions, delete_options_of
from registry.quoting import quote
from registry.schema import Catalog, Decoded, DecodeError, UnknownKind, yaml_keys
from registry.schema.leaves import json_type
from registry.schemes import scheme_of
from registry.validation import field
from registry.validation.errors import invalid_of
from storage.aside import aside

_DELETE_OPTIONS = GroupVersionKind("", "v1", "DeleteOptions")
_SUMMARY_BYTES = 30
_THREAD_FROM_BYTES = 16 * 1024
_NOT_REGISTERED = (
    "no kind is registered for the type v1.{kind} in scheme "
    '"k8s.io/apiextensions-apiserver/pkg/apiserver/customresource_handler.go:781"'
)
NOT_AN_OBJECT = (
    "json: cannot unmarshal {found} into Go value of type struct "
    '{{ APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }}'
)

_TYPE_MEMBERS = frozenset({"apiVersion", "kind"})


async def decode_object(
    body: bytes, request: web.BaseRequest, context: RequestContext, served: Served[Any], *, field_validation: str
) -> Decoded:
    """The hub object in a body. Raises BadRequest, UnsupportedMediaType."""
    expected = served.view.object_kind
    found = await _read(body, request, served.types, expected)
    kind = _kind_of_custom(found, body, expected) if served.is_custom else _kind_of(found, body, served)
    try:
        decoded = await aside(partial(_decoded, served, found), len(body))
    except DecodeError as exc:
        raise _unfit(kind, expected, exc.message) from exc
    _report((*found.strict_errors, *decoded.strict_errors), context, field_validation, (kind, expected))
    return decoded


def _decoded(served: Served[Any], found: "_Body") -> Decoded:
    """The hub object, with what is to be said of it. Raises DecodeError."""
    return hub_of(served.type.decode(found.value, text=found.text), served)


def hub_of(decoded: Decoded, served: Served[Any]) -> Decoded:
    """The hub object of a decoded one, which is used up."""
    obj = decoded.obj
    obj.setdefault("metadata", {})
    return Decoded(served.view.to_hub(obj), decoded.strict_errors, decoded.empties)


class _Body(NamedTuple):
    """A map, its JSON text if it has one, and what a strict reader has against the text that the client wrote."""

    value: dict[str, Any]
    text: bytes = b""
    strict_errors: tuple[str, ...] = ()


async def _read(body: bytes, request: web.BaseRequest, types: Catalog, expected: GroupVersionKind) -> _Body:
    """What is in a body. Raises BadRequest, UnsupportedMediaType."""
    media_type = request.headers.get(hdrs.CONTENT_TYPE, "").partition(";")[0].strip().lower() or negotiation.JSON
    try:
        match media_type:
            case negotiation.JSON:
                return _Body(_parsed(body, body, expected), body)
            case negotiation.YAML:
                document = await _yaml(body)
                return _Body(_parsed(document.json, body, expected), document.json, document.strict_errors)
            case negotiation.PROTOBUF:
                return _Body(protobuf.to_value(body, types, expected))
    except ValueError as exc:
        raise _unrecognized(f"couldn't get version/kind; json parse error: {exc}", body, expected) from exc
    raise errors.UnsupportedMediaType(negotiation.MEDIA_TYPES)


async def _yaml(body: bytes) -> "yaml.Document":
    """A document of YAML; a long one does not hold up the event loop."""
    return yaml.read(body) if len(body) < _THREAD_FROM_BYTES else await asyncio.to_thread(yaml.read, body)


def _parsed(text: bytes, body: bytes, expected: GroupVersionKind) -> dict[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError as exc:
        why = json_errors.describe(text) or str(exc)
        raise _unrecognized(f"couldn't get version/kind; json parse error: {why}", body, expected) from exc
    if value is None:
        return {}
    if not isinstance(value, dict):
        why = NOT_AN_OBJECT.format(found=json_type(value))
        raise _unrecognized(f"couldn't get version/kind; json parse error: {why}", body, expected)
    return value


def _unrecognized(why: str, body: bytes, expected: GroupVersionKind) -> errors.BadRequest:
    return errors.BadRequest(
        f"the object provided is unrecognized (must be of type {expected.kind}): {why} ({_summary(body)})"
    )


def _summary(body: bytes) -> str:
    if not body:
        return "<empty>"
    shown = body[:_SUMMARY_BYTES]
    text = shown.decode(errors="replace") if body.startswith(b"{") else shown.hex()
    return f"{text} ..." if len(body) > _SUMMARY_BYTES else text


def _kind_of(found: _Body, body: bytes, served: Served[Any]) -> GroupVersionKind:
    """What the body says that it is; what it does not say is taken from the URL. Raises BadRequest for another kind."""
    expected = served.view.object_kind
    api_version, name = _type_texts(found, body, expected)
    group, _, version = (api_version or expected.api_version).rpartition("/")
    kind = GroupVersionKind(group, version, name or expected.kind)
    if kind == expected or kind in getattr(served.storage, "accepts", ()):
        return kind
    if served.kind.is_custom:
        raise errors.BadRequest(_NOT_REGISTERED.format(kind=expected.kind))
    if (is_old(kind) or _is_known(kind, served.types)) and are_one_kind(kind, expected):
        versions = f"({kind.api_version}) does not match the expected API version ({expected.api_version})"
        raise errors.BadRequest(f"the API version in the data {versions}")
    raise _unfit(kind, expected, kind_mismatch(kind, expected, served.types))


def _kind_of_custom(found: _Body, body: bytes, expected: GroupVersionKind) -> GroupVersionKind:
    """The same for a custom resource, which must say what it is. Raises BadRequest, Invalid."""
    api_version, name = _type_texts(found, body, expected)
    if not name:
        shown = body.decode(errors="replace")
        raise errors.BadRequest(
            f"the object provided is unrecognized (must be of type {expected.kind}): "
            f"Object 'Kind' is missing in '{shown}' ({_summary(body)})"
        )
    if api_version != expected.api_version:
        raise errors.BadRequest(
            f"the API version in the data ({api_version}) does not match "
            f"the expected API version ({expected.api_version})"
        )
    if name != expected.kind:
        metadata = found.value.get("metadata")
        title = metadata.get("name") if isinstance(metadata, dict) else ""
        wrong = field.invalid("kind", name, f"must be {expected.kind}")
        raise invalid_of(GroupKind(expected.group, name), str(title or ""), [wrong])
    return expected


def _type_texts(found: _Body, body: bytes, expected: GroupVersionKind) -> tuple[str, str]:
    """The apiVersion and the kind. Raises BadRequest for the first of them that is no text."""
    value = found.value
    api_version, name = value.get("apiVersion"), value.get("kind")
    if isinstance(api_version, str | None) and isinstance(name, str | None):
        return api_version or "", name or ""
    member = next(key for key, one in value.items() if key in _TYPE_MEMBERS and not isinstance(one, str | None))
    why = f"json: cannot unmarshal {json_type(value[member])} into Go struct field .{member} of type string"
    raise _unrecognized(f"couldn't get version/kind; json parse error: {why}", body, expected)


def kind_mismatch(kind: GroupVersionKind, expected: GroupVersionKind, types: Catalog) -> str:
    """Why an object of one kind cannot be taken for another."""
    scheme = scheme_of(expected.group)
    if scheme_of(kind.group) != scheme or not (is_old(kind) or _is_known(kind, types)):
        registered = f"no kind {quote(kind.kind)} is registered for version {quote(kind.api_version)}"
        return f'{registered} in scheme "{scheme}"'
    package = expected.group.partition(".")[0] or "core"
    names = (f"({kind.version}.{kind.kind})", f"({package}.{expected.kind})")
    return f"converting {names[0]} to {names[1]}: unknown conversion"


def _is_known(kind: GroupVersionKind, types: Catalog) -> bool:
    try:
        types.type_for(kind.group, kind.version, kind.kind)
    except UnknownKind:
        return False
    return True


def _unfit(kind: GroupVersionKind, expected: GroupVersionKind, why: str) -> errors.BadRequest:
    return errors.BadRequest(
        f"{kind.kind} in version {quote(kind.version)} cannot be handled as a {expected.kind}: {why}"
    )


def _report(
    strict_errors: tuple[str, ...],
    context: RequestContext,
    field_validation: str,
    kinds: tuple[GroupVersionKind, GroupVersionKind],
) -> None:
    if not strict_errors or field_validation == "Ignore":
        return
    if field_validation == "Strict":
        raise _unfit(*kinds, f"strict decoding error: {', '.join(strict_errors)}")
    for error in strict_errors:
        for warning in yaml_keys.warnings(error):
            context.warnings.add(warning)


async def read_delete_options(request: web.BaseRequest, context: RequestContext, served: Served[Any]) -> DeleteOptions:
    """The options of a deletion, from its body or (without one) its query. Raises BadRequest, UnsupportedMediaType."""
    body = await bodies.read(request)
    if not body:
        return parameters.delete_options(context.query)
    found = await _read(body, request, served.types, _DELETE_OPTIONS)
    if found.value.get("kind") not in (None, "", _DELETE_OPTIONS.kind):
        raise errors.BadRequest(f"decoded object cannot be converted to {_DELETE_OPTIONS.kind}")
    kind = served.types.type_for(_DELETE_OPTIONS.group, _DELETE_OPTIONS.version, _DELETE_OPTIONS.kind)
    try:
        decoded = kind.decode(found.value, text=found.text).obj
        recorded.sent_options(context, decoded)
        return delete_options_of(decoded)
    except DecodeError as exc:
        raise _unfit(_DELETE_OPTIONS, _DELETE_OPTIONS, exc.message) from exc
