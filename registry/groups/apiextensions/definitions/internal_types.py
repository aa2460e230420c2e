"""Internal types: the parts of a CustomResourceDefinition as errors print them, with Go's names and order. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Show = Callable[[Any], Any]


def _plain(value: Any) -> Any:
    return value


def _text(value: Any) -> Any:
    return value or ""


def _flag(value: Any) -> Any:
    return bool(value)


def _schemas(value: Any) -> Any:
    return [schema(one) for one in value] if value is not None else None


def _members(value: Any) -> Any:
    return {name: schema(value[name]) for name in sorted(value)} if value is not None else None


def _optional(value: Any) -> Any:
    return None if value is None else schema(value)


def _or_flag(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, bool):
        return {"Allows": value, "Schema": None}
    return {"Allows": True, "Schema": schema(value)}


def _or_list(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, list):
        return {"Schema": None, "JSONSchemas": [schema(one) for one in value]}
    return {"Schema": schema(value), "JSONSchemas": None}


def _documents(value: Any) -> Any:
    return {"Description": value.get("description", ""), "URL": value.get("url", "")} if value else None


def _dependencies(value: Any) -> Any:
    if value is None:
        return None
    return {name: _dependency(value[name]) for name in sorted(value)}


def _dependency(value: Any) -> Any:
    """A dependency is a schema or a list of names. Other values are shown as nil."""
    if isinstance(value, list):
        return {"Schema": None, "Property": value}
    return {"Schema": _optional(value), "Property": None}


def _rules(value: Any) -> Any:
    return [rule(one) for one in value] if value is not None else None


_SCHEMA: Sequence[tuple[str, str, Show]] = (
    ("ID", "id", _text),
    ("Schema", "$schema", _text),
    ("Ref", "$ref", _plain),
    ("Description", "description", _text),
    ("Type", "type", _text),
    ("Nullable", "nullable", _flag),
    ("Format", "format", _text),
    ("Title", "title", _text),
    ("Default", "default", _plain),
    ("Maximum", "maximum", _plain),
    ("ExclusiveMaximum", "exclusiveMaximum", _flag),
    ("Minimum", "minimum", _plain),
    ("ExclusiveMinimum", "exclusiveMinimum", _flag),
    ("MaxLength", "maxLength", _plain),
    ("MinLength", "minLength", _plain),
    ("Pattern", "pattern", _text),
    ("MaxItems", "maxItems", _plain),
    ("MinItems", "minItems", _plain),
    ("UniqueItems", "uniqueItems", _flag),
    ("MultipleOf", "multipleOf", _plain),
    ("Enum", "enum", _plain),
    ("MaxProperties", "maxProperties", _plain),
    ("MinProperties", "minProperties", _plain),
    ("Required", "required", _plain),
    ("Items", "items", _or_list),
    ("AllOf", "allOf", _schemas),
    ("OneOf", "oneOf", _schemas),
    ("AnyOf", "anyOf", _schemas),
    ("Not", "not", _optional),
    ("Properties", "properties", _members),
    ("AdditionalProperties", "additionalProperties", _or_flag),
    ("PatternProperties", "patternProperties", _members),
    ("Dependencies", "dependencies", _dependencies),
    ("AdditionalItems", "additionalItems", _or_flag),
    ("Definitions", "definitions", _members),
    ("ExternalDocs", "externalDocs", _documents),
    ("Example", "example", _plain),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", _plain),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", _flag),
    ("XIntOrString", "x-kubernetes-int-or-string", _flag),
    ("XListMapKeys", "x-kubernetes-list-map-keys", _plain),
    ("XListType", "x-kubernetes-list-type", _plain),
    ("XMapType", "x-kubernetes-map-type", _plain),
    ("XValidations", "x-kubernetes-validations", _rules),
)

_RULE: Sequence[tuple[str, str, Show]] = (
    ("Rule", "rule", _text),
    ("Message", "message", _text),
    ("MessageExpression", "messageExpression", _text),
    ("Reason", "reason", _plain),
    ("FieldPath", "fieldPath", _text),
    ("OptionalOldSelf", "optionalOldSelf", _plain),
)

_COLUMN: Sequence[tuple[str, str, Show]] = (
    ("Name", "name", _text),
    ("Type", "type", _text),
    ("Format", "format", _text),
    ("Description", "description", _text),
    ("Priority", "priority", lambda value: value or 0),
    ("JSONPath", "jsonPath", _text),
)


def schema(value: Mapping[str, Any]) -> dict[str, Any]:
    """A JSONSchemaProps."""
    return _struct(value, _SCHEMA)


def set_members(value: Mapping[str, Any]) -> list[str]:
    """The internal names of the fields that are set, in order."""
    return [inner for inner, name, show in _SCHEMA if _is_set(value.get(name), show)]


def _is_set(value: Any, show: Show) -> bool:
    """Whether a field is set. Strings and booleans are set when they are not zero; others when they are not null."""
    return bool(value) if show in (_text, _flag) else value is not None


def rule(value: Mapping[str, Any]) -> dict[str, Any]:
    """A ValidationRule."""
    return _struct(value, _RULE)


def versions(value: Sequence[Mapping[str, Any]] | None) -> Any:
    """A list of CustomResourceDefinitionVersions, without the parts that all versions share."""
    return None if value is None else [_struct(one, _VERSION) for one in value]


def _validation(value: Any) -> Any:
    return {"OpenAPIV3Schema": _optional(value.get("openAPIV3Schema"))} if value is not None else None


def _subresources(value: Any) -> Any:
    if value is None:
        return None
    scale = value.get("scale")
    status = value.get("status")
    shown = None
    if scale is not None:
        names = (
            ("SpecReplicasPath", "specReplicasPath", _text),
            ("StatusReplicasPath", "statusReplicasPath", _text),
            ("LabelSelectorPath", "labelSelectorPath", _plain),
        )
        shown = _struct(scale, names)
    return {"Status": {} if status is not None else None, "Scale": shown}


_VERSION: Sequence[tuple[str, str, Show]] = (
    ("Name", "name", _text),
    ("Served", "served", _flag),
    ("Storage", "storage", _flag),
    ("Deprecated", "deprecated", _flag),
    ("DeprecationWarning", "deprecationWarning", _plain),
    ("Schema", "schema", _validation),
    ("Subresources", "subresources", _subresources),
    (
        "AdditionalPrinterColumns",
        "additionalPrinterColumns",
        lambda value: [_struct(one, _COLUMN) for one in value] if value else None,
    ),
    (
        "SelectableFields",
        "selectableFields",
        lambda value: [{"JSONPath": one.get("jsonPath", "")} for one in value] if value else None,
    ),
)


def _struct(value: Mapping[str, Any], members: Sequence[tuple[str, str, Show]]) -> dict[str, Any]:
    return {inner: show(value.get(name)) for inner, name, show in members}
