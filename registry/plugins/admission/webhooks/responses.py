"""Responses: checks the AdmissionReview that a webhook returns, with kube-apiserver's error messages.

Pure. Must hold: each member of the response is checked for its type before it is used.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import schemes
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.schema import Catalog, DecodeError
from aio_apiserver.registry.machinery.schema.scalars import json_type
from aio_apiserver.registry.plugins.admission.webhooks import reviews

JSON_PATCH = "JSONPatch"

_IN_EVERY_GROUP = frozenset({"Status", "APIVersions", "APIGroupList", "APIGroup", "APIResourceList"})
_IN_THIS_GROUP = frozenset(
    {"WatchEvent", "ListOptions", "GetOptions", "DeleteOptions", "CreateOptions", "UpdateOptions", "PatchOptions"}
)
_STATUS = "io.k8s.apimachinery.pkg.apis.meta.v1.Status"
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/\r\n]")


class UndecodableReview(Exception):
    """The response is not an AdmissionReview."""


class InvalidReview(Exception):
    """The response is an AdmissionReview with wrong content."""


class WebhookResponse(Struct, frozen=True, kw_only=True):
    """The response of a webhook. `status` holds the reason of a denial."""

    is_allowed: bool
    patch: bytes = b""
    patch_type: str = ""
    warnings: Sequence[str] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)
    status: Object | None = None


def read(value: Object, version: str, uid: str, types: Catalog, *, mutates: bool) -> WebhookResponse:
    """The checked response of a webhook. Raises UndecodableReview, InvalidReview."""
    _check_kind(value, version, types)
    response = _member(value, "AdmissionReview", "response", _is_object, "v1.AdmissionResponse")
    if response is None:
        raise InvalidReview("webhook response was absent")
    answer, given_uid, patch_type = _typed(response, types)
    if version == "v1":
        _check_identity(value, given_uid, uid)
        _check_patch(answer.patch, patch_type, mutates=mutates)
    elif answer.patch:
        patch_type = JSON_PATCH
    return WebhookResponse(
        is_allowed=answer.is_allowed,
        patch=answer.patch if mutates else b"",
        patch_type=patch_type or "",
        warnings=answer.warnings,
        annotations=answer.annotations,
        status=answer.status,
    )


def _check_kind(value: Object, version: str, types: Catalog) -> None:
    """Check apiVersion and kind. A response without them passes here. Raises UndecodableReview."""
    wanted = reviews.api_version(version)
    api_version, kind = (
        _text(value, name) or default for name, default in (("apiVersion", wanted), ("kind", reviews.KIND))
    )
    group, _, given = api_version.rpartition("/")
    is_here = group == reviews.GROUP and given in reviews.VERSIONS
    if kind == reviews.KIND and api_version == wanted:
        return
    if kind in _IN_EVERY_GROUP or (is_here and kind in _IN_THIS_GROUP):
        raise UndecodableReview(f"converting (v1.{kind}) to ({version}.{reviews.KIND}): unknown conversion")
    if is_here and kind == reviews.KIND:
        raise UndecodableReview(f"converting ({given}.{kind}) to ({version}.{reviews.KIND}): unknown conversion")
    scheme = schemes.place_of(schemes.WEBHOOK_RESPONSES, types.version)
    raise UndecodableReview(schemes.not_registered(kind, api_version, scheme))


def _text(value: Object, name: str) -> str:
    given = value.get(name)
    if not isinstance(given, str | None):
        raise UndecodableReview(
            "couldn't get version/kind; json parse error: "
            f"json: cannot unmarshal {json_type(given)} into Go struct field .{name} of type string"
        )
    return given or ""


def _check_identity(value: Object, given_uid: str, uid: str) -> None:
    if given_uid != uid:
        raise InvalidReview(f"expected response.uid={quote(uid)}, got {quote(given_uid)}")
    api_version, kind = _text(value, "apiVersion"), _text(value, "kind")
    if not api_version or not kind:
        group, _, version = api_version.rpartition("/")
        wanted = f"{reviews.api_version('v1')}, Kind={reviews.KIND}"
        raise InvalidReview(f"expected webhook response of {wanted}, got {group}/{version}, Kind={kind}")


def _check_patch(patch: bytes, patch_type: str | None, *, mutates: bool) -> None:
    if not mutates:
        if patch:
            raise InvalidReview("validating webhook may not return response.patch")
        if patch_type is not None:
            raise InvalidReview("validating webhook may not return response.patchType")
        return
    if patch and patch_type is None:
        raise InvalidReview("webhook returned response.patch but not response.patchType")
    if not patch and patch_type is not None:
        raise InvalidReview("webhook returned response.patchType but not response.patch")
    if patch_type == "":
        raise InvalidReview(f"webhook returned invalid response.patchType of {quote(patch_type)}")


def _typed(response: Mapping[str, Any], types: Catalog) -> tuple[WebhookResponse, str, str | None]:
    """The members of a response with their types checked: the answer, its uid, and the type of its patch."""
    status = _response_member(response, "status", _is_object, "v1.Status")
    answer = WebhookResponse(
        is_allowed=bool(_response_member(response, "allowed", lambda one: isinstance(one, bool), "bool")),
        patch=_bytes(_response_member(response, "patch", _is_text, "[]uint8") or ""),
        warnings=_warnings(response),
        annotations=_annotations(response),
        status=_status(status, types) if status is not None else None,
    )
    uid = _response_member(response, "uid", _is_text, "types.UID") or ""
    return answer, uid, _response_member(response, "patchType", _is_text, "v1.PatchType")


def _annotations(response: Mapping[str, Any]) -> Mapping[str, str]:
    """The audit annotations of a response."""
    annotations = _response_member(response, "auditAnnotations", _is_object, "map[string]string") or {}
    for value in annotations.values():
        if not isinstance(value, str | None):
            raise _mismatch("AdmissionResponse", "response.auditAnnotations", value, "string")
    return {name: value or "" for name, value in annotations.items()}


def _warnings(response: Mapping[str, Any]) -> Sequence[str]:
    warnings = _response_member(response, "warnings", lambda one: isinstance(one, list), "[]string") or ()
    for value in warnings:
        if not isinstance(value, str | None):
            raise _mismatch("AdmissionResponse", "response.warnings", value, "string")
    return [value or "" for value in warnings]


def _status(value: Object, types: Catalog) -> Object:
    try:
        kind = types.type_of(_STATUS)
        return kind.canonical(kind.decode(value).obj)
    except DecodeError as exc:
        raise UndecodableReview(exc.message) from exc


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text.replace("\r", "").replace("\n", ""), validate=True)
    except binascii.Error as exc:
        wrong = _NOT_BASE64.search(text.rstrip("="))
        place = wrong.start() if wrong is not None else len(text) // 4 * 4
        raise UndecodableReview(f"illegal base64 data at input byte {place}") from exc


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _response_member(response: Mapping[str, Any], name: str, is_right: Callable[[Any], bool], wanted: str) -> Any:
    return _member(response, "AdmissionResponse", name, is_right, wanted, path=f"response.{name}")


def _member(
    value: Mapping[str, Any], struct: str, name: str, is_right: Callable[[Any], bool], wanted: str, *, path: str = ""
) -> Any:
    """A member, or None. Raises UndecodableReview when its type is wrong."""
    member = value.get(name)
    if member is not None and not is_right(member):
        raise _mismatch(struct, path or name, member, wanted)
    return member


def _mismatch(struct: str, path: str, value: Any, wanted: str) -> UndecodableReview:
    return UndecodableReview(
        f"json: cannot unmarshal {json_type(value)} into Go struct field {struct}.{path} of type {wanted}"
    )
