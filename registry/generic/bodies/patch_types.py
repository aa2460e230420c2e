"""patch_types: the patch formats, each from the text of a patch and the present object to the new object.

kube-apiserver's messages for a wrong patch differ by format. Must hold: a patch sees the object as it is served, typed,
in the version of the request. Its result is decoded like a client's object. The text is parsed for each attempt,
because an attempt changes the parsed patch.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import errors
from aio_apiserver.registry.base.deferred import Deferred
from aio_apiserver.registry.base.errors import BadRequest
from aio_apiserver.registry.base.golang import json_errors
from aio_apiserver.registry.base.golang.decode_errors import TOO_DEEP
from aio_apiserver.registry.generic.bodies import patched_objects
from aio_apiserver.registry.generic.bodies.patched_objects import Report
from aio_apiserver.registry.generic.kind import Kind
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery import media_types
from aio_apiserver.registry.machinery.patch import body_errors, json_patch, merge_patch, texts
from aio_apiserver.registry.machinery.schema import Decoded, DecodeError, depth, strict
from aio_apiserver.storage.stored_object import StoredObject

if TYPE_CHECKING:
    from aio_apiserver.registry.machinery.patch import strategic
else:
    strategic = Deferred("aio_apiserver.registry.machinery.patch.strategic")

_UNDECODABLE = "error decoding patch: "
CHECKED_FIRST = (1, 37)
"""The minor since which a patch that is not JSON is refused before the object is read."""
_NO_PATCH = "Invalid JSON Patch"
_LITERAL = re.compile(rb"[0-9][eE][+-]?[0-9]|[0-9]{19}")
"""Numbers that a float would print in another way than the client's text; quantities show the difference."""


class Patch(Struct, frozen=True):
    """The text of a patch, and the client's fieldValidation."""

    text: bytes
    field_validation: str
    warn: Callable[[str], None]

    @property
    def is_strict(self) -> bool:
        return self.field_validation != "Ignore"

    def report(self, strict_errors: Sequence[str]) -> Report:
        return Report(strict_errors, self.field_validation, self.warn)


Transform = Callable[[Patch, Served[Any], StoredObject], Decoded]
"""Makes the new hub object. Raises BadRequest, Invalid, Unprocessable, RequestEntityTooLarge."""


def apply_json_patch(patch: Patch, served: Served[Any], current: StoredObject) -> Decoded:
    """Apply a JSON patch, a list of operations."""
    return _applied_to_json(_json_patched, patch, served, current)


def apply_merge_patch(patch: Patch, served: Served[Any], current: StoredObject) -> Decoded:
    """Apply a merge patch to the present object."""
    return _applied_to_json(_merge_patched, patch, served, current)


def apply_strategic_merge_patch(patch: Patch, served: Served[Any], current: StoredObject) -> Decoded:
    """Apply a strategic merge patch, with the type's merge keys. Its apiVersion and kind do not count."""
    try:
        return _strategically_merged(patch, served, current)
    except RecursionError:
        raise BadRequest(TOO_DEEP) from None


class Apply(Struct, frozen=True):
    """A server-side apply: a configuration with the fields that its field manager wants to own (apply.py)."""


PatchType = Transform | Apply

_PATCH_TYPES: Mapping[str, PatchType] = {
    media_types.JSON_PATCH: apply_json_patch,
    media_types.MERGE_PATCH: apply_merge_patch,
    media_types.STRATEGIC_MERGE_PATCH: apply_strategic_merge_patch,
    media_types.APPLY_PATCH: Apply(),
}


def patch_type(media_type: str, kind: Kind) -> PatchType:
    """The format of a patch. Raises UnsupportedMediaType."""
    known = media_types_of(kind)
    if media_type not in known:
        raise errors.UnsupportedMediaType(known)
    return _PATCH_TYPES[media_type]


def media_types_of(kind: Kind) -> Sequence[str]:
    """The patch formats of a kind, in the order of kube-apiserver's error message."""
    return media_types.CUSTOM_PATCHES if kind.is_custom else media_types.PATCHES


_Patched = tuple[Any, Sequence[str]]
"""A document after a patch, and the strict decoding errors of the patch."""


def _applied_to_json(
    patched: Callable[[Patch, Object], _Patched], patch: Patch, served: Served[Any], current: StoredObject
) -> Decoded:
    try:
        document, strict_errors = patched(patch, orjson.loads(served.view.json(current)))
        text = texts.written(document)
    except (RecursionError, orjson.JSONEncodeError):
        raise BadRequest(_UNDECODABLE + TOO_DEEP) from None
    return patched_objects.from_json(text, served, patch.report(strict_errors))


def _strategically_merged(patch: Patch, served: Served[Any], current: StoredObject) -> Decoded:
    value = _checked(patch.text, "")
    if mismatch := body_errors.object_mismatch(value):
        raise BadRequest(mismatch)
    strict_errors = body_errors.object_errors(patch.text, value) if patch.is_strict else ()
    change = value or {}
    merged = strategic.merged(orjson.loads(served.view.item(current)), change, served.type.node)
    return patched_objects.from_merged(merged, change, served, patch.report(strict_errors))


def _json_patched(patch: Patch, document: Object) -> _Patched:
    prefix = _UNDECODABLE if patch.is_strict else ""
    operations = _parsed(patch.text, prefix)
    if mismatch := body_errors.operations_mismatch(operations, is_strict=patch.is_strict):
        raise BadRequest(prefix + mismatch)
    strict_errors = body_errors.operations_errors(patch.text, operations) if patch.is_strict else ()
    if strict_errors:
        operations = texts.as_written(patch.text)
    return json_patch.applied(document, operations or ()), strict_errors


def _merge_patched(patch: Patch, document: Object) -> _Patched:
    if not patch.is_strict:
        return _leniently_merged(patch, document), ()
    value = _parsed(patch.text, _UNDECODABLE)
    if mismatch := body_errors.object_mismatch(value):
        raise BadRequest(_UNDECODABLE + mismatch)
    strict_errors = body_errors.object_errors(patch.text, value)
    return _merged(document, value), strict_errors


def _leniently_merged(patch: Patch, document: Object) -> Any:
    try:
        value = _parsed(patch.text, "")
    except BadRequest as exc:
        raise BadRequest(_NO_PATCH) from exc
    return merge_patch.without_nulls(value) if isinstance(value, list) else _merged(document, value)


def _merged(document: Object, value: Any) -> Object:
    if not isinstance(value, dict):
        raise BadRequest(_NO_PATCH)
    return merge_patch.merged(document, value)


def _parsed(text: bytes, prefix: str) -> Any:
    """The value of a JSON text; numbers whose form would be lost keep their text. Raises BadRequest."""
    value = _checked(text, prefix)
    return strict.with_literals(text) if _LITERAL.search(text) else value


def _checked(text: bytes, prefix: str) -> Any:
    try:
        value = orjson.loads(text)
        depth.check(value, text)
    except orjson.JSONDecodeError as exc:
        raise BadRequest(prefix + (json_errors.describe(text) or str(exc))) from exc
    except DecodeError as exc:
        raise BadRequest(prefix + exc.message) from exc
    return value
