"""Structural validation: a schema is structural when each value has one known type, as pruning and defaulting need.

Pure. Must hold: the errors are sorted by their text. Patterns are compiled within a budget.
"""

from typing import Any

from aio_apiserver.base.budget import Budget
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural.plain import is_plain
from aio_apiserver.registry.machinery.schema.validation import patterns

_INT_OR_STRING = ([{"type": "integer"}, {"type": "string"}],)
_UNSUPPORTED = (
    ("id", "id"),
    ("$schema", "schema"),
    ("$ref", "$ref"),
    ("patternProperties", "patternProperties"),
    ("dependencies", "dependencies"),
    ("additionalItems", "additionalItems"),
    ("definitions", "definitions"),
)
_NAMES_ALONE = frozenset({"name", "generateName"})
_PRESERVE, _EMBEDDED = "x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"
_INT_OR_STRING_FLAG = "x-kubernetes-int-or-string"

_MUST_NOT_BE_NESTED = (
    ("type", "must be empty to be structural"),
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    (_PRESERVE, "must be false to be structural"),
    (_EMBEDDED, "must be false to be structural"),
    (_INT_OR_STRING_FLAG, "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)

_ROOT, _FIELD, _ITEM = "must not be empty at the root", "for specified object fields", "for specified array items"
_TYPE_NEEDED = {
    _ROOT: "must not be empty at the root",
    _FIELD: "must not be empty for specified object fields",
    _ITEM: "must not be empty for specified array items",
}


def unsupported(schema: Any) -> str:
    """The reason why a schema cannot be read as a structural one; empty when it can."""
    if not isinstance(schema, dict):
        return ""
    for name, shown in _UNSUPPORTED:
        if schema.get(name):
            return f"OpenAPIV3Schema '{shown}' is not supported"
    if isinstance(schema.get("items"), list) and schema["items"]:
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    if schema.get(_PRESERVE) is False:
        return f"internal error: '{_PRESERVE}' must be true or undefined"
    return next(filter(None, map(unsupported, _below(schema))), "")


def _below(schema: Schema) -> list[Any]:
    combined = [one for name in ("allOf", "oneOf", "anyOf") for one in schema.get(name) or ()]
    members = (one for one in (schema.get("properties") or {}).values() if not is_plain(one))
    return [*combined, schema.get("not"), schema.get("items"), *members, schema.get("additionalProperties")]


def validate(schema: Schema, path: str, budget: Budget) -> list[FieldError]:
    """The errors that make a schema not structural. Raises BudgetExceeded."""
    found = _validate(schema, _ROOT, path, budget)
    found += _validate_complete(schema, schema, path, path)
    return sorted(found, key=str)


def _validate(schema: Schema, level: str, path: str, budget: Budget) -> list[FieldError]:
    found: list[FieldError] = []
    items, others = schema.get("items"), schema.get("additionalProperties")
    if schema.get("type") == "array" and not isinstance(items, dict):
        found.append(field.required(f"{path}.items", "must be specified"))
    if isinstance(items, dict):
        found += _validate(items, _ITEM, f"{path}.items", budget)
    for name, member in (schema.get("properties") or {}).items():
        if not is_plain(member):
            found += _validate(member, _FIELD, f"{path}.properties[{name}]", budget)
    if others is not None:
        if level == _ROOT:
            found.append(field.forbidden(f"{path}.additionalProperties", "must not be used at the root"))
        if isinstance(others, dict):
            found += _validate(others, _FIELD, f"{path}.additionalProperties", budget)
    found += _validate_flags(schema, path)
    found += _validate_values(schema, path, budget, **_int_or_string(schema))
    found += _validate_type(schema, level, path)
    return found + _validate_metadata(schema, level, path)


def _validate_flags(schema: Schema, path: str) -> list[FieldError]:
    if not schema.get(_INT_OR_STRING_FLAG):
        return []
    detail = f"must be false if {_INT_OR_STRING_FLAG} is true"
    return [field.invalid(f"{path}.{name}", True, detail) for name in (_PRESERVE, _EMBEDDED) if schema.get(name)]


def _validate_type(schema: Schema, level: str, path: str) -> list[FieldError]:
    found = []
    of_type, is_embedded = schema.get("type") or "", schema.get(_EMBEDDED)
    if is_embedded and of_type != "object":
        detail = f"must be object if {_EMBEDDED} is true"
        wrong = field.invalid(f"{path}.type", of_type, detail) if of_type else field.required(f"{path}.type", detail)
        found.append(wrong)
    elif not of_type and not schema.get(_INT_OR_STRING_FLAG) and not schema.get(_PRESERVE):
        found.append(field.required(f"{path}.type", _TYPE_NEEDED[level]))
    if is_embedded and schema.get("additionalProperties") is not None:
        found.append(field.forbidden(f"{path}.additionalProperties", f"must not be used if {_EMBEDDED} is set"))
    if level == _ROOT and of_type and of_type != "object":
        found.append(field.invalid(f"{path}.type", of_type, "must be object at the root"))
    return found


def _validate_metadata(schema: Schema, level: str, path: str) -> list[FieldError]:
    found = []
    is_resource = level == _ROOT or bool(schema.get(_EMBEDDED))
    properties = schema.get("properties") or {}
    for name in ("kind", "apiVersion"):
        of_type = (properties.get(name) or {}).get("type") or ""
        if name in properties and is_resource and of_type != "string":
            found.append(field.invalid(f"{path}.properties[{name}].type", of_type, "must be string"))
    if "metadata" in properties:
        metadata, where = properties["metadata"], f"{path}.properties[metadata]"
        of_type = metadata.get("type") or ""
        if is_resource and of_type != "object":
            found.append(field.invalid(f"{where}.type", of_type, "must be object"))
        if level == _ROOT and not _names_only(metadata):
            detail = "must not specify anything other than name and generateName, but metadata is implicitly specified"
            found.append(field.forbidden(where, detail))
    if schema.get(_EMBEDDED) and not schema.get(_PRESERVE) and not properties:
        detail = f"must not be empty if {_EMBEDDED} is true without {_PRESERVE}"
        found.append(field.required(f"{path}.properties", detail))
    return found


def _names_only(metadata: Schema) -> bool:
    """Whether the schema of metadata has rules for names and nothing more."""
    restricted = {name for name, value in metadata.items() if value not in (None, "", False, [], {})}
    return restricted <= {"type", "default", "properties"} and (metadata.get("properties") or {}).keys() <= _NAMES_ALONE


def _int_or_string(schema: Schema) -> dict[str, bool]:
    """Flags for the anyOf of integer and string, which may contain types."""
    first = (schema.get("allOf") or [{}])[0]
    return {
        "skips_any_of": schema.get("anyOf") in _INT_OR_STRING,
        "skips_first_any_of": first.get("anyOf") in _INT_OR_STRING,
    }


def _validate_values(
    schema: Schema, path: str, budget: Budget, *, skips_any_of: bool = False, skips_first_any_of: bool = False
) -> list[FieldError]:
    found = []
    if not skips_any_of:
        for index, one in enumerate(schema.get("anyOf") or ()):
            found += _validate_nested(one, f"{path}.anyOf[{index}]", budget)
    for index, one in enumerate(schema.get("allOf") or ()):
        is_skipped = skips_first_any_of and index == 0
        found += _validate_nested(one, f"{path}.allOf[{index}]", budget, skips_any_of=is_skipped)
    for index, one in enumerate(schema.get("oneOf") or ()):
        found += _validate_nested(one, f"{path}.oneOf[{index}]", budget)
    if schema.get("not") is not None:
        found += _validate_nested(schema["not"], f"{path}.not", budget)
    pattern = schema.get("pattern")
    if pattern:
        try:
            patterns.compiled(pattern, budget)
        except ValueError as exc:
            detail = f"must be a valid regular expression, but isn't: {exc}"
            found.append(field.invalid(f"{path}.pattern", pattern, detail))
    return found


def _validate_nested(schema: Schema, path: str, budget: Budget, *, skips_any_of: bool = False) -> list[FieldError]:
    found = _validate_values(schema, path, budget, skips_any_of=skips_any_of)
    if isinstance(schema.get("items"), dict):
        found += _validate_nested(schema["items"], f"{path}.items", budget)
    properties = schema.get("properties") or {}
    for name, member in properties.items():
        found += _validate_nested(member, f"{path}.properties[{name}]", budget)
    if schema.get("additionalProperties") is not None:
        found.append(field.forbidden(f"{path}.additionalProperties", "must be undefined to be structural"))
    found += [field.forbidden(f"{path}.{name}", detail) for name, detail in _MUST_NOT_BE_NESTED if schema.get(name)]
    if "metadata" in properties:
        found.append(field.forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context"))
    return found


def _validate_complete(values: Schema, schema: Schema | None, path: str, where: str) -> list[FieldError]:
    """The errors for fields that allOf, anyOf, oneOf or not mention and that the schema itself lacks."""
    found = []
    nested = [(values["not"], f"{where}.not")] if values.get("not") is not None else []
    for name in ("allOf", "anyOf", "oneOf"):
        nested += [(one, f"{where}.{name}[{index}]") for index, one in enumerate(values.get(name) or ())]
    for one, place in nested:
        found += _validate_nested_complete(one, schema, path, place)
    return found


def _validate_nested_complete(values: Schema, schema: Schema | None, path: str, where: str) -> list[FieldError]:
    if schema is None:
        return [field.required(path, f"because it is defined in {where}")]
    found = _validate_complete(values, schema, path, where)
    if isinstance(values.get("items"), dict):
        items = schema.get("items")
        below = items if isinstance(items, dict) else None
        found += _validate_nested_complete(values["items"], below, f"{path}.items", f"{where}.items")
    properties = schema.get("properties") or {}
    for name, member in (values.get("properties") or {}).items():
        place, source = f"{path}.properties[{name}]", f"{where}.properties[{name}]"
        if name not in properties:
            found.append(field.required(place, f"because it is defined in {source}"))
        else:
            found += _validate_nested_complete(member, properties[name], place, source)
    return found
