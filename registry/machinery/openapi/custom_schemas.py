"""Custom schemas: structural schemas as definitions in OpenAPI v2 and v3.

Pure. Version 3 shows the whole schema. Version 2 drops what its clients do not support: alternatives, nullable values,
defaults, and members of objects that preserve unknown fields. Must hold: the input schema is not changed.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.base.names import GroupVersionKind
from aio_apiserver.registry.machinery.openapi.routes import META, OwnSchemas
from aio_apiserver.registry.machinery.schema.model import Schema

_ROOT2, _ROOT3 = "#/definitions/", "#/components/schemas/"
_CONVENTIONS = "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md"
_METADATA = f"Standard object's metadata. More info: {_CONVENTIONS}#metadata"
_LIST_METADATA = f"Standard list metadata. More info: {_CONVENTIONS}#types-kinds"
_API_VERSION = (
    "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized "
    f"schemas to the latest internal value, and may reject unrecognized values. More info: {_CONVENTIONS}#resources"
)
_KIND = (
    "Kind is a string value representing the REST resource this object represents. Servers may infer this from the "
    f"endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: {_CONVENTIONS}#types-kinds"
)
_EMBEDDED_API_VERSION = (
    f"apiVersion defines the versioned schema of this representation of an object. More info: {_CONVENTIONS}#resources"
)
_EMBEDDED_KIND = (
    f"kind is a string value representing the type of this object. In CamelCase. More info: {_CONVENTIONS}#types-kinds"
)

_UNKNOWN = "x-kubernetes-preserve-unknown-fields"
_INT_OR_STRING = "x-kubernetes-int-or-string"
_EMBEDDED = "x-kubernetes-embedded-resource"
_NUMBER_OR_TEXT = [{"type": "integer"}, {"type": "string"}]
_NOT_IN_VERSION2 = ("allOf", "oneOf", "anyOf", "not", "nullable", "default")

Change = Callable[[dict[str, Any]], None]


class CustomShape(Struct, frozen=True, kw_only=True):
    """The parts of a custom resource that its definitions show."""

    kind: GroupVersionKind
    list_kind: str
    plural: str
    schema: Schema | None
    preserves_unknown_fields: bool = False
    selectable_fields: Sequence[str] = ()


def name_of(kind: GroupVersionKind) -> str:
    """The name of a kind's definition: the reversed group, version and kind."""
    return ".".join([*reversed(kind.group.split(".")), kind.version, kind.kind])


def of(shape: CustomShape) -> OwnSchemas:
    """The definitions of the kind and its list, for both versions."""
    name = name_of(shape.kind)
    list_name = name_of(GroupVersionKind(shape.kind.group, shape.kind.version, shape.list_kind))
    return OwnSchemas(
        {name: _object2(shape), list_name: _list(shape, _reference2)},
        {name: _object3(shape), list_name: _list(shape, _reference3)},
    )


def _object2(shape: CustomShape) -> Schema:
    schema = shape.schema
    if schema is None or schema.get(_UNKNOWN) or shape.preserves_unknown_fields:
        return _with_names(shape, {"type": "object"}, shape.kind.kind)
    shown = _changed(_changed(schema, _unfold), _reduce)
    return _with_names(shape, _native(_changed(shown, _embed2), _reference2), shape.kind.kind)


def _object3(shape: CustomShape) -> Schema:
    if shape.schema is None:
        return _with_names(shape, {"type": "object"}, shape.kind.kind)
    shown = _changed(_changed(shape.schema, _unfold), _embed3)
    return _with_names(shape, _native(shown, _reference3), shape.kind.kind)


def _native(schema: dict[str, Any], reference: "_Reference") -> dict[str, Any]:
    """A schema with apiVersion, kind and metadata."""
    properties = dict(schema.get("properties") or {})
    properties |= {
        "apiVersion": {"description": _API_VERSION, "type": "string"},
        "kind": {"description": _KIND, "type": "string"},
        "metadata": reference(f"{META}.ObjectMeta", _METADATA),
    }
    return {**schema, "properties": properties}


def _list(shape: CustomShape, reference: "_Reference") -> Schema:
    items = {
        "description": f"List of {shape.plural}. More info: {_CONVENTIONS}",
        "type": "array",
        "items": reference(name_of(shape.kind), ""),
    }
    schema = {
        "description": f"{shape.list_kind} is a list of {shape.kind.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": {"description": _API_VERSION, "type": "string"},
            "items": items,
            "kind": {"description": _KIND, "type": "string"},
            "metadata": reference(f"{META}.ListMeta", _LIST_METADATA),
        },
    }
    return _with_names(shape, schema, shape.list_kind)


def _with_names(shape: CustomShape, schema: dict[str, Any], kind: str) -> Schema:
    names = {"group": shape.kind.group, "version": shape.kind.version, "kind": kind}
    described = {**schema, "x-kubernetes-group-version-kind": [names]}
    if shape.selectable_fields:
        fields = [{"fieldPath": path.removeprefix(".")} for path in shape.selectable_fields]
        described["x-kubernetes-selectable-fields"] = fields
    return described


_Reference = Callable[[str, str], dict[str, Any]]


def _reference2(definition: str, description: str) -> dict[str, Any]:
    reference = {"$ref": _ROOT2 + definition}
    return {"description": description, **reference} if description else reference


def _reference3(definition: str, description: str) -> dict[str, Any]:
    reference = {"$ref": _ROOT3 + definition}
    return {"description": description, "allOf": [reference]} if description else reference


def _changed(schema: Schema, change: Change) -> dict[str, Any]:
    """A copy of a schema with a change applied to it and to all schemas below."""
    copy = dict(schema)
    change(copy)
    if isinstance(copy.get("properties"), Mapping):
        copy["properties"] = {name: _changed(one, change) for name, one in copy["properties"].items()}
    for elements in ("items", "additionalProperties"):
        if isinstance(copy.get(elements), Mapping):
            copy[elements] = _changed(copy[elements], change)
    return copy


def _unfold(schema: dict[str, Any]) -> None:
    """Express `x-kubernetes-int-or-string` in standard words."""
    if not schema.get(_INT_OR_STRING):
        return
    alternatives, whole = schema.get("anyOf"), schema.get("allOf") or []
    if not alternatives:
        if not (whole and whole[0].get("anyOf") == _NUMBER_OR_TEXT):
            schema["anyOf"] = _NUMBER_OR_TEXT
    elif alternatives != _NUMBER_OR_TEXT:
        schema["allOf"] = [{"anyOf": _NUMBER_OR_TEXT}, *whole]


def _reduce(schema: dict[str, Any]) -> None:
    """Remove what clients of version 2 do not support."""
    keeps_unknown = bool(schema.get(_UNKNOWN))
    if schema.get("nullable") or keeps_unknown:
        _drop(schema, "items", "properties")
    if schema.get("nullable") or (schema.get("type") == "array" and "items" not in schema):
        _drop(schema, "type")
    if keeps_unknown and schema.get("type") == "object":
        _drop(schema, "type")
    _require_only(schema, [name for name in schema.get("required") or () if not _may_be_null(schema, name)])
    _drop(schema, *_NOT_IN_VERSION2)


def _may_be_null(schema: dict[str, Any], name: str) -> bool:
    member = (schema.get("properties") or {}).get(name) or {}
    values = schema.get("additionalProperties")
    return bool(member.get("nullable")) or (isinstance(values, Mapping) and bool(values.get("nullable")))


def _require_only(schema: dict[str, Any], names: Sequence[str]) -> None:
    if names:
        schema["required"] = list(names)
    else:
        schema.pop("required", None)


def _drop(schema: dict[str, Any], *names: str) -> None:
    for name in names:
        schema.pop(name, None)


def _embed2(schema: dict[str, Any]) -> None:
    if not schema.get(_UNKNOWN):
        _embed(schema, _reference2)


def _embed3(schema: dict[str, Any]) -> None:
    _embed(schema, _reference3)


def _embed(schema: dict[str, Any], reference: _Reference) -> None:
    """Add apiVersion, kind and metadata of an embedded resource."""
    if not schema.get(_EMBEDDED):
        return
    schema["properties"] = {
        **(schema.get("properties") or {}),
        "apiVersion": {"description": _EMBEDDED_API_VERSION, "type": "string"},
        "kind": {"description": _EMBEDDED_KIND, "type": "string"},
        "metadata": reference(f"{META}.ObjectMeta", _METADATA),
    }
    required = list(schema.get("required") or ())
    schema["required"] = required + [name for name in ("kind", "apiVersion") if name not in required]
