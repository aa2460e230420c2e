"""patched_objects: decodes the result of a patch into a hub object, like a client's body.

Must hold: the outcome is an object, or an Invalid that shows the whole result. fieldValidation decides whether unknown
and duplicate fields are refused, reported or dropped. Errors of the patch come before those of the result.
"""

from collections.abc import Callable, Sequence
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base.errors import Invalid, StatusError
from aio_apiserver.registry.base.golang import text as gotext
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupKind, GroupVersionKind
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.errors import invalid_of
from aio_apiserver.registry.generic.bodies import contents, decoding
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery.schema import Decoded, DecodeError, UnknownKind, depth
from aio_apiserver.registry.machinery.schema.scalars import json_type

_NO_TYPE = "couldn't get version/kind; json parse error: "
_HTML = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
"""The characters that Go's encoder escapes."""


class Report(Struct, frozen=True):
    """Handles strict decoding errors; `of_patch` are those of the patch itself."""

    of_patch: Sequence[str]
    field_validation: str
    warn: Callable[[str], None]

    def tell(self, of_object: Sequence[str], patch_text: Callable[[], str]) -> None:
        """Refuse, warn or ignore. Raises Invalid when fieldValidation is Strict."""
        strict_errors = [*self.of_patch, *of_object]
        if not strict_errors or self.field_validation == "Ignore":
            return
        if self.field_validation == "Strict":
            raise _invalid(patch_text(), f"strict decoding error: {', '.join(strict_errors)}")
        for error in strict_errors:
            self.warn(error)


def from_json(text: bytes, served: Served[Any], report: Report) -> Decoded:
    """The hub object of a JSON text. Raises Invalid."""

    def patch_text() -> str:
        return text.decode().translate(_HTML)

    try:
        decoded = decoding.hub_of(_decoded(text, served), served)
    except DecodeError as exc:
        raise _invalid(patch_text(), exc.message) from exc
    report.tell(decoded.strict_errors, patch_text)
    return decoded


def from_merged(value: Object, patch: Object, served: Served[Any], report: Report) -> Decoded:
    """The hub object from a strategic merge; errors show the patch. Raises Invalid, StatusError."""

    def patch_text() -> str:
        return gotext.value_text(patch)

    try:
        depth.check(value)
        converted = served.type.convert(value)
    except DecodeError as exc:
        raise _invalid(patch_text(), exc.message) from exc
    try:
        decoded = decoding.hub_of(converted, served)
    except DecodeError as exc:
        raise StatusError(exc.message) from exc
    report.tell(decoded.strict_errors, patch_text)
    return decoded


def _invalid(patch_text: str, why: str) -> Invalid:
    """The error for a result that is not an object: it has no kind."""
    return invalid_of(GroupKind("", ""), "", [field.invalid("patch", patch_text, why)])


def _decoded(text: bytes, served: Served[Any]) -> Decoded:
    value = orjson.loads(text)
    depth.check(value, text)
    if not isinstance(value, dict):
        raise DecodeError(_NO_TYPE + contents.NOT_AN_OBJECT.format(found=json_type(value)))
    if not _text_member(value, "apiVersion"):
        return _without_version(value)
    kind = _kind_of(value, served.view.object_kind)
    if kind != served.view.object_kind and served.is_custom:
        raise _other_kind(kind, served.view.object_kind, value)
    if kind != served.view.object_kind:
        raise DecodeError(_misfit(kind, value, text, served))
    return served.type.decode(value, text=text)


def _kind_of(value: Object, expected: GroupVersionKind) -> GroupVersionKind:
    group, _, version = _text_member(value, "apiVersion").rpartition("/")
    return GroupVersionKind(group, version, _text_member(value, "kind") or expected.kind)


def _other_kind(kind: GroupVersionKind, expected: GroupVersionKind, value: Object) -> Invalid:
    """The error for a custom resource with another kind or apiVersion."""
    wrong = []
    if kind.kind != expected.kind:
        wrong.append(field.invalid("kind", kind.kind, f"must be {expected.kind}"))
    if kind.api_version != expected.api_version:
        wrong.append(field.invalid("apiVersion", kind.api_version, f"must be {expected.api_version}"))
    metadata = value.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    return invalid_of(GroupKind(kind.group, kind.kind), str(name or ""), wrong)


def _text_member(value: Object, name: str) -> str:
    member = value.get(name)
    if not isinstance(member, str | None):
        raise DecodeError(
            f"{_NO_TYPE}json: cannot unmarshal {json_type(member)} into Go struct field .{name} of type string"
        )
    return member or ""


def _without_version(value: Object) -> Decoded:
    """Decode without an apiVersion: kube-apiserver then takes an internal type, to which all fields are unknown."""
    unknown = (name for name in value if name not in {"kind", "apiVersion"})
    return Decoded({}, tuple(f"unknown field {quote(name)}" for name in unknown))


def _misfit(kind: GroupVersionKind, value: Object, text: bytes, served: Served[Any]) -> str:
    """The error of an object of another kind: first it is decoded as that kind, then it is refused."""
    try:
        served.types.type_for(kind.group, kind.version, kind.kind).decode(value, text=text)
    except UnknownKind:
        pass
    except DecodeError as exc:
        return exc.message
    return decoding.kind_mismatch(kind, served.view.object_kind, served.types)
