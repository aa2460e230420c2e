"""Decoding: the body of a create or an update to a hub object, with kube-apiserver's messages for errors.

Must hold: for any bytes, the outcome is an object or a StatusError. An object is of the kind and version of its URL.
A custom resource may be of another kind: then it keeps its kind, for which its strategy refuses it.
fieldValidation decides whether unknown and duplicate fields are refused, reported or dropped.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from aio_apiserver.base import worker_thread
from aio_apiserver.base.worker_thread import LONG
from aio_apiserver.registry.base import errors, schemes
from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.base.other_versions import are_one_kind, is_old
from aio_apiserver.registry.generic.bodies import contents
from aio_apiserver.registry.generic.bodies.contents import Body
from aio_apiserver.registry.generic.served import Served
from aio_apiserver.registry.machinery.schema import Catalog, Decoded, DecodeError, UnknownKind, yaml_keys

_SUMMARY_BYTES = 30
_OF_ANY_KIND = ("duplicate field", 'unknown field "metadata.')
"""The beginnings of strict errors that need no schema."""
_FIELDS_OF_ANY_KIND = frozenset({"apiVersion", "kind", "metadata"})
_NOT_REGISTERED = 'no kind is registered for the type v1.{kind} in scheme "{scheme}"'


async def decode_object(body: Body, served: Served[Any], *, field_validation: str) -> Decoded:
    """The hub object in a body. Raises BadRequest, UnsupportedMediaType."""
    try:
        return await _fitting(body, served, field_validation=field_validation)
    except errors.BadRequest as exc:
        if served.kind.is_custom and not served.is_custom:  # kube-apiserver does not name what it expected of a scale
            scheme = schemes.place_of(schemes.CUSTOM_RESOURCES, served.types.version)
            raise errors.BadRequest(_NOT_REGISTERED.format(kind=served.view.object_kind.kind, scheme=scheme)) from exc
        raise


async def _fitting(body: Body, served: Served[Any], *, field_validation: str) -> Decoded:
    expected, text = served.view.object_kind, body.text
    try:
        found = await contents.read(body, served.types, expected)
        stated = found.type()
    except contents.UnreadableBody as exc:
        raise _unrecognized(str(exc), text, expected) from exc
    if served.is_custom:
        kind = _kind_of_custom(found, body, expected, field_validation)
    else:
        kind = _kind_of(stated, text, served)
    try:
        if len(text) < LONG:
            decoded = _decoded(served, found, kind)
        else:
            decoded = await worker_thread.run(partial(_decoded, served, found, kind), body.user)
    except DecodeError as exc:
        raise _unfit(kind, expected, exc.message) from exc
    if served.is_custom and kind != expected:
        strict = (*found.strict_errors, *_strict_errors_of_another(kind, decoded, found, served))
        _check_another(strict, body.warn, field_validation, (kind, expected))
        decoded.obj["kind"] = kind.kind  # its strategy refuses it, after admission
        return decoded
    if found.strict_errors or decoded.strict_errors:
        _report((*found.strict_errors, *decoded.strict_errors), body.warn, field_validation, (kind, expected))
    return decoded


def _decoded(served: Served[Any], found: contents.BodyContent, kind: GroupVersionKind) -> Decoded:
    """The hub object with its strict decoding errors. Raises DecodeError."""
    of_version = served.kind.custom_types.get(kind.version, served.type) if served.is_custom else served.type
    return hub_of(of_version.decode(found.value, text=found.text, text_of=found.text_of), served)


def hub_of(decoded: Decoded, served: Served[Any]) -> Decoded:
    """The hub object of a decoded one, which must not be used again."""
    obj = decoded.obj
    obj.setdefault("metadata", {})
    return Decoded(served.view.to_hub(obj), decoded.strict_errors, decoded.empties)


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


def _kind_of(stated: tuple[str, str, str], body: bytes, served: Served[Any]) -> GroupVersionKind:
    """The kind that the body states, completed from the URL. Raises BadRequest for another kind."""
    expected = served.view.object_kind
    group, version, name = stated
    if not version and group in {"", expected.group}:
        group, version = expected.group, expected.version
    kind = GroupVersionKind(group, version, name or expected.kind)
    if kind in served.accepted_kinds:
        return kind
    if not version:
        raise _unfit(kind, expected, f"Object 'apiVersion' is missing in '{body.decode(errors='replace')}'")
    types = served.types
    if (is_old(kind, types.minor) or _is_known(kind, types)) and are_one_kind(kind, expected, types.minor):
        raise _of_another_version(kind.api_version, expected)
    raise _unfit(kind, expected, kind_mismatch(kind, expected, types))


def _kind_of_custom(
    found: contents.BodyContent, body: Body, expected: GroupVersionKind, field_validation: str
) -> GroupVersionKind:
    """The kind that a custom resource states; it may be another one. Raises BadRequest for none."""
    group, _, version = (found.value.get("apiVersion") or "").rpartition("/")
    name = found.value.get("kind") or ""
    if not name:
        why = f"Object 'Kind' is missing in '{body.text.decode(errors='replace')}'"
        if field_validation == "Ignore":
            raise _unfit(GroupVersionKind(group, version or expected.version, expected.kind), expected, why)
        raise _unrecognized(why, body.text, expected)
    if found.value.get("apiVersion", "") is None:
        no_text = ".apiVersion accessor error: <nil> is of the type <nil>, expected string"
        raise _unfit(GroupVersionKind("", "", name), expected, no_text)
    return GroupVersionKind(group, version, name)


def _strict_errors_of_another(
    kind: GroupVersionKind, decoded: Decoded, found: contents.BodyContent, served: Served[Any]
) -> Iterator[str]:
    """The strict errors of a custom resource of another kind or version. A version that is not there has no fields."""
    expected = served.view.object_kind
    is_this_kind = (kind.group, kind.kind) == (expected.group, expected.kind)
    if is_this_kind and kind.version in served.kind.custom_types:
        yield from decoded.strict_errors
        return
    yield from (error for error in decoded.strict_errors if error.startswith(_OF_ANY_KIND))
    if is_this_kind:
        yield from (f'unknown field "{name}"' for name in sorted(found.value.keys() - _FIELDS_OF_ANY_KIND))


def _check_another(
    strict_errors: tuple[str, ...],
    warn: Callable[[str], None],
    field_validation: str,
    kinds: tuple[GroupVersionKind, GroupVersionKind],
) -> None:
    """Raises BadRequest for strict errors of a custom resource of another kind, and for another version."""
    kind, expected = kinds
    if strict_errors and field_validation == "Strict" and not kind.version:
        raise errors.BadRequest("Object 'apiVersion' is missing in 'object has no apiVersion field'")
    _report(strict_errors, warn, field_validation, (kind, kind))
    if kind.api_version != expected.api_version:
        raise _of_another_version(kind.api_version, expected)


def _of_another_version(api_version: str, expected: GroupVersionKind) -> errors.BadRequest:
    versions = f"({api_version}) does not match the expected API version ({expected.api_version})"
    return errors.BadRequest(f"the API version in the data {versions}")


def kind_mismatch(kind: GroupVersionKind, expected: GroupVersionKind, types: Catalog) -> str:
    """The message for an object of a kind that cannot be converted."""
    scheme = schemes.of_group(expected.group)
    if schemes.of_group(kind.group) != scheme or not (is_old(kind, types.minor) or _is_known(kind, types)):
        return schemes.not_registered(kind.kind, kind.api_version, schemes.place_of(scheme, types.version))
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
    warn: Callable[[str], None],
    field_validation: str,
    kinds: tuple[GroupVersionKind, GroupVersionKind],
) -> None:
    if field_validation == "Ignore" or not strict_errors:
        return
    if field_validation == "Strict":
        raise _unfit(*kinds, f"strict decoding error: {', '.join(strict_errors)}")
    for error in strict_errors:
        for warning in yaml_keys.warnings(error):
            warn(warning)
