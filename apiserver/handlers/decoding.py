"""Decoding: request bodies to hub objects and options, with kube-apiserver's words for what is wrong.

Must hold: whatever bytes come, the answer is an object or a StatusError; an object is of the kind and version of its
URL; unknown and duplicate fields are refused, reported or dropped as fieldValidation says.
"""

from typing import Any

import orjson
from aiohttp import hdrs, web

from apiserver import bodies, negotiation, parameters
from apiserver.context import RequestContext
from apiserver.handlers.served import Served
from registry import errors
from registry.names import GroupVersionKind
from registry.options import DeleteOptions
from registry.schema.errors import DecodeError
from storage.interface import Preconditions
from storage.stored_object import Object


def decode_object(
    body: bytes, request: web.BaseRequest, context: RequestContext, served: Served[Any], *, field_validation: str
) -> Object:
    """The hub object in a body. Raises BadRequest, UnsupportedMediaType."""
    value = parse(body, request, served.view.object_kind)
    _check_type(value, served.view.object_kind)
    try:
        decoded = served.type.decode(value, text=body)
    except DecodeError as exc:
        kind = served.view.object_kind
        raise errors.BadRequest(
            f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: {exc.message}'
        ) from exc
    _report(decoded.strict_errors, context, field_validation, served.view.object_kind)
    decoded.obj.setdefault("metadata", {})
    return served.view.to_hub(decoded.obj)


def parse(body: bytes, request: web.BaseRequest, expected: GroupVersionKind) -> dict[str, Any]:
    """The map in a body of JSON or YAML. Raises BadRequest, UnsupportedMediaType."""
    media_type = request.headers.get(hdrs.CONTENT_TYPE, "").partition(";")[0].strip() or negotiation.JSON
    if media_type not in negotiation.MEDIA_TYPES:
        raise errors.UnsupportedMediaType(negotiation.MEDIA_TYPES)
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as exc:
        why = f"couldn't get version/kind; json parse error: {exc}"
        raise errors.BadRequest(
            f"the object provided is unrecognized (must be of type {expected.kind}): {why}"
        ) from exc
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise errors.BadRequest(f"the object provided is unrecognized (must be of type {expected.kind})")
    return value


def _check_type(value: dict[str, Any], expected: GroupVersionKind) -> None:
    given = GroupVersionKind("", value.get("apiVersion") or expected.api_version, value.get("kind") or expected.kind)
    if given.kind != expected.kind:
        why = f"{given.kind} in version {given.version!r} cannot be handled as a {expected.kind}"
        raise errors.BadRequest(why)
    if given.version != expected.api_version:
        raise errors.BadRequest(
            f"the API version in the data ({given.version}) does not match "
            f"the expected API version ({expected.api_version})"
        )


def _report(
    strict_errors: tuple[str, ...], context: RequestContext, field_validation: str, kind: GroupVersionKind
) -> None:
    if not strict_errors or field_validation == "Ignore":
        return
    if field_validation == "Strict":
        raise errors.BadRequest(
            f'{kind.kind} in version "{kind.version}" cannot be handled as a {kind.kind}: '
            f"strict decoding error: {', '.join(strict_errors)}"
        )
    for error in strict_errors:
        context.warnings.add(error)


async def read_delete_options(request: web.BaseRequest, context: RequestContext) -> DeleteOptions:
    """The options of a deletion, from its body or (without one) its query. Raises BadRequest."""
    body = await bodies.read(request)
    if not body:
        return parameters.delete_options(context.query)
    try:
        value = orjson.loads(body)
        given = value.get("preconditions")
        return DeleteOptions(
            dry_run=tuple(value.get("dryRun") or ()),
            grace_period_seconds=value.get("gracePeriodSeconds"),
            preconditions=Preconditions(given.get("uid"), given.get("resourceVersion")) if given else None,
            orphan_dependents=value.get("orphanDependents"),
            propagation_policy=value.get("propagationPolicy"),
        )
    except (orjson.JSONDecodeError, AttributeError, TypeError) as exc:
        raise errors.BadRequest(f"couldn't get version/kind; json parse error: {exc}") from exc
