"""Schema validation: validates the schema of a custom resource, apart from whether it is structural.

Pure. This module checks the form of CEL rules. `Compile` checks their content when the schema has no other error. Must
hold: errors of schemas come before errors of rules.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.apiextensions.definitions import internal_types
from aio_apiserver.registry.groups.apiextensions.validation import field_paths
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural.plain import is_plain

TYPES = ("array", "boolean", "integer", "number", "object", "string")

_META_FIELDS = frozenset({"metadata", "kind", "apiVersion"})
_REASONS = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_AT_ROOT_WITH_STATUS = (
    "Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern "
    "MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields "
    "XValidations"
).split()
_LIST_TYPE, _MAP_TYPE, _KEYS = "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-list-map-keys"
_RULES = "x-kubernetes-validations"
_ATOMIC_IN_SET = "must be atomic as item of a list with x-kubernetes-list-type=set"


class Demands(Struct, frozen=True, kw_only=True):
    """The rules that apply. An update leaves out rules that the old definition breaks."""

    valid_types: bool = True
    atomic_sets: bool = True
    sound_keys: bool = True


class _Place(Struct, frozen=True):
    """A position in a schema: why defaults are forbidden there, and whether it is inside of metadata."""

    no_defaults_because: str = ""
    is_in_metadata: bool = False


def validate_root(schema: Schema, path: str, *, has_status: bool) -> list[FieldError]:
    """The errors for members that the root of a schema may not have."""
    found = _validate_with_status(schema, path) if has_status else []
    if schema.get("nullable"):
        found.append(field.forbidden(f"{path}.nullable", "nullable cannot be true at the root"))
    return found


def _validate_with_status(schema: Schema, path: str) -> list[FieldError]:
    for name in internal_types.set_members(schema):
        if name == "Type":
            if schema["type"] != "object":
                detail = (
                    'only "object" is allowed as the type at the root of the schema '
                    "if the status subresource is enabled"
                )
                return [field.invalid(f"{path}.type", schema["type"], detail)]
        elif name not in _AT_ROOT_WITH_STATUS:
            allowed = f"[{' '.join(_AT_ROOT_WITH_STATUS)}]"
            detail = f"only {allowed} fields are allowed at the root of the schema if the status subresource is enabled"
            return [field.invalid(path, internal_types.schema(schema), detail)]
    return []


def validate(schema: Schema, path: str, demands: Demands) -> list[FieldError]:
    """The errors of a schema and of all schemas in it."""
    return _Walk(demands).schema(schema, path, _Place(), is_root=True)


class _Walk:
    """One traversal of a schema."""

    def __init__(self, demands: Demands) -> None:
        self._demands = demands

    def schema(self, schema: Schema | None, path: str, place: _Place, *, is_root: bool = False) -> list[FieldError]:
        if schema is None:
            return []
        found = self._itself(schema, path, place)
        if schema.get("uniqueItems"):
            detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
            found.append(field.forbidden(f"{path}.uniqueItems", detail))
        found += self._members(schema, path, place, is_root=is_root)
        for name, below in _combined(schema):
            found += self.schema(below, f"{path}.{name}", place)
        found += self._items(schema, path, place)
        if schema.get("x-kubernetes-preserve-unknown-fields") is False:
            where = f"{path}.x-kubernetes-preserve-unknown-fields"
            found.append(field.invalid(where, False, "must be true or undefined"))
        found += _validate_map_type(schema, path)
        found += self._list_type(schema, path)
        if self._demands.sound_keys:
            found += validate_keys(schema, path)
        return found + _validate_rules(schema, path)

    def _itself(self, schema: Schema, path: str, place: _Place) -> list[FieldError]:
        found = []
        of_type = schema.get("type") or ""
        if self._demands.valid_types and of_type and of_type not in TYPES:
            found.append(field.not_supported(f"{path}.type", of_type, TYPES))
        if schema.get("default") is not None and place.no_defaults_because:
            found.append(field.forbidden(f"{path}.default", f"must not be set {place.no_defaults_because}"))
        for name, shown in _UNSUPPORTED:
            if schema.get(name) or (name in _FORBIDDEN_EMPTY and schema.get(name) is not None):
                found.append(field.forbidden(f"{path}.{name}", f"{shown} is not supported"))
        if of_type == "null":
            detail = "type cannot be set to null, use nullable as an alternative"
            found.append(field.forbidden(f"{path}.type", detail))
        if isinstance(schema.get("items"), list) and schema["items"]:
            found.append(field.forbidden(f"{path}.items", "items must be a schema object and not an array"))
        if place.is_in_metadata and schema.get("x-kubernetes-embedded-resource"):
            where = f"{path}.x-kubernetes-embedded-resource"
            found.append(field.forbidden(where, "must not be used inside of resource meta"))
        return found

    def _members(self, schema: Schema, path: str, place: _Place, *, is_root: bool) -> list[FieldError]:
        found: list[FieldError] = []
        properties: Mapping[str, Schema] = schema.get("properties") or {}
        others = schema.get("additionalProperties")
        if others is not None:
            if properties and others is not True:
                detail = "additionalProperties and properties are mutual exclusive"
                found.append(field.forbidden(f"{path}.additionalProperties", detail))
            below = place
            if place.is_in_metadata:
                below = replace(place, no_defaults_because="inside additionalProperties applying to object metadata")
            found += self.schema(others if isinstance(others, dict) else None, f"{path}.additionalProperties", below)
        for name, member in properties.items():
            if is_plain(member):
                continue
            below = place
            if (is_root or schema.get("x-kubernetes-embedded-resource")) and name in _META_FIELDS:
                reason = f"in top-level {name}" if is_root else place.no_defaults_because
                below = _Place(reason, is_in_metadata=True)
            found += self.schema(member, f"{path}.properties[{name}]", below)
        return found

    def _items(self, schema: Schema, path: str, place: _Place) -> list[FieldError]:
        items = schema.get("items")
        if isinstance(items, dict):
            return self.schema(items, f"{path}.items", place)
        found = []
        for index, one in enumerate(items or ()):
            found += self.schema(one, f"{path}.items[{index}]", place)
        return found

    def _list_type(self, schema: Schema, path: str) -> list[FieldError]:
        found: list[FieldError] = []
        list_type, keys = schema.get(_LIST_TYPE), schema.get(_KEYS) or ()
        items = schema.get("items")
        if list_type is not None and schema.get("type") != "array":
            found.append(_wrong_type(schema, path, "must be array if x-kubernetes-list-type is specified"))
        elif self._demands.atomic_sets and list_type == "set" and isinstance(items, dict):
            found += validate_set(items, path)
        if list_type not in (None, "atomic", "set", "map"):
            found.append(field.not_supported(f"{path}.{_LIST_TYPE}", list_type, ("atomic", "set", "map")))
        if keys and list_type != "map":
            detail = "must be map if x-kubernetes-list-map-keys is non-empty"
            where = f"{path}.{_LIST_TYPE}"
            wrong = field.required(where, detail) if list_type is None else field.invalid(where, list_type, detail)
            found.append(wrong)
        return found + (_validate_map_list(schema, keys, path) if list_type == "map" else [])


_UNSUPPORTED = (
    ("id", "id"),
    ("additionalItems", "additionalItems"),
    ("patternProperties", "patternProperties"),
    ("definitions", "definitions"),
    ("dependencies", "dependencies"),
    ("$ref", "$ref"),
)
_FORBIDDEN_EMPTY = frozenset({"additionalItems", "$ref", "dependencies"})


def _combined(schema: Schema) -> list[tuple[str, Any]]:
    """The schemas that a schema combines or depends on, with their paths in it."""
    found = [("not", schema.get("not"))]
    for name in ("allOf", "oneOf", "anyOf"):
        found += [(f"{name}[{index}]", one) for index, one in enumerate(schema.get(name) or ())]
    found += [(f"definitions[{name}]", one) for name, one in (schema.get("definitions") or {}).items()]
    dependencies = (schema.get("dependencies") or {}).items()
    return found + [(f"dependencies[{name}]", one) for name, one in dependencies if isinstance(one, dict)]


def _wrong_type(schema: Schema, path: str, detail: str) -> FieldError:
    of_type, where = schema.get("type") or "", f"{path}.type"
    return field.invalid(where, of_type, detail) if of_type else field.required(where, detail)


def _validate_map_type(schema: Schema, path: str) -> list[FieldError]:
    map_type = schema.get(_MAP_TYPE)
    if map_type is None:
        return []
    found = []
    if schema.get("type") != "object":
        found.append(_wrong_type(schema, path, "must be object if x-kubernetes-map-type is specified"))
    if map_type not in ("atomic", "granular"):
        found.append(field.not_supported(f"{path}.{_MAP_TYPE}", map_type, ("atomic", "granular")))
    return found


def validate_set(items: Schema, path: str) -> list[FieldError]:
    """The errors of items in a set. Maps and lists in a set have to be atomic, because items are compared as a
    whole.
    """
    list_type = items.get(_LIST_TYPE)
    if items.get("type") == "array" and list_type not in (None, "atomic"):
        return [field.invalid(f"{path}.items.{_LIST_TYPE}", list_type, _ATOMIC_IN_SET)]
    if items.get("type") == "object" and items.get(_MAP_TYPE) != "atomic":
        return [field.invalid(f"{path}.items.{_MAP_TYPE}", list_type, _ATOMIC_IN_SET)]
    return []


def _validate_map_list(schema: Schema, keys: Sequence[str], path: str) -> list[FieldError]:
    items = schema.get("items")
    found = []
    if not keys:
        detail = "must not be empty if x-kubernetes-list-type is map"
        found.append(field.required(f"{path}.{_KEYS}", detail))
    if items is None:
        found.append(field.required(f"{path}.items", "must have a schema if x-kubernetes-list-type is map"))
        return found
    if not isinstance(items, dict):
        shown = {"Schema": None, "JSONSchemas": [internal_types.schema(one) for one in items]}
        detail = "must only have a single schema if x-kubernetes-list-type is map"
        return [*found, field.invalid(f"{path}.items", shown, detail)]
    if items.get("type") != "object":
        detail = "must be object if parent array's x-kubernetes-list-type is map"
        return [*found, field.invalid(f"{path}.items.type", items.get("type") or "", detail)]
    return found + _validate_key_names(items.get("properties") or {}, keys, path)


def _validate_key_names(properties: Mapping[str, Schema], keys: Sequence[str], path: str) -> list[FieldError]:
    found = []
    for index, key in enumerate(keys):
        if key not in properties:
            found.append(field.invalid(f"{path}.{_KEYS}", keys, "entries must all be names of item properties"))
        elif properties[key].get("type") in ("array", "object"):
            detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            found.append(field.invalid(f"{path}.items.properties[{key}].type", "object", detail))
        if key in keys[:index]:
            found.append(field.invalid(f"{path}.{_KEYS}", keys, "must not contain duplicate entries"))
    return found


def validate_keys(schema: Schema, path: str) -> list[FieldError]:
    """The errors for keys that may be missing and items that may be null."""
    items, list_type = schema.get("items"), schema.get(_LIST_TYPE)
    if not isinstance(items, dict) or list_type not in ("set", "map"):
        return []
    found = []
    if items.get("nullable"):
        detail = f"cannot be nullable when x-kubernetes-list-type is {list_type}"
        found.append(field.forbidden(f"{path}.items.nullable", detail))
    if list_type == "set":
        return found
    properties, required = items.get("properties") or {}, items.get("required") or ()
    this = "this property is in x-kubernetes-list-map-keys, so it"
    for key in schema.get(_KEYS) or ():
        if key not in properties:
            continue
        where = f"{path}.items.properties[{key}]"
        if key not in required and properties[key].get("default") is None:
            found.append(field.required(f"{where}.default", f"{this} must have a default or be a required property"))
        if properties[key].get("nullable"):
            found.append(field.forbidden(f"{where}.nullable", f"{this} cannot be nullable"))
    return found


def _validate_rules(schema: Schema, path: str) -> list[FieldError]:
    found = []
    for index, rule in enumerate(schema.get(_RULES) or ()):
        found += _validate_rule(rule, schema, f"{path}.{_RULES}[{index}]")
    return found


def _validate_rule(rule: Mapping[str, Any], schema: Schema, path: str) -> list[FieldError]:
    """The errors in the form of a rule."""
    found = _validate_words(rule, path)
    expression, reason = rule.get("messageExpression") or "", rule.get("reason")
    if expression and not expression.strip():
        found.append(field.required(f"{path}.messageExpression", "messageExpression must be non-empty if specified"))
    if reason is not None and reason not in _REASONS:
        found.append(field.not_supported(f"{path}.reason", reason, _REASONS))
    where = rule.get("fieldPath") or ""
    if where and not where.strip():
        found.append(field.invalid(f"{path}.fieldPath", where, "must be non-empty if specified"))
    if _has_lines(where):
        found.append(field.invalid(f"{path}.fieldPath", where, "must not contain line breaks"))
    if where and not field_paths.is_valid(where, schema):
        found.append(field.invalid(f"{path}.fieldPath", where, "must be a valid path"))
    return found


def _validate_words(rule: Mapping[str, Any], path: str) -> list[FieldError]:
    text, message = (rule.get("rule") or "").strip(), rule.get("message") or ""
    if not text:
        return [field.required(f"{path}.rule", "rule is not specified")]
    if message and not message.strip():
        return [field.invalid(f"{path}.message", message, "must be non-empty if specified")]
    if _has_lines(message.strip()):
        return [field.invalid(f"{path}.message", message, "must not contain line breaks")]
    if _has_lines(text) and not message:
        return [field.required(f"{path}.message", "message must be specified if rule contains line breaks")]
    return []


def _has_lines(text: str) -> bool:
    return "\n" in text or "\r" in text


Compile = Callable[[Schema, str], list[FieldError]]
"""Compiles and checks all rules of a valid schema at a path."""
