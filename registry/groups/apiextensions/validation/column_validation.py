"""Column validation: validates additionalPrinterColumns and selectableFields of a definition. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.groups.apiextensions.validation import field_paths, subresource_validation
from aio_apiserver.registry.machinery.schema.model import Schema

_TYPES = ("boolean", "date", "integer", "number", "string")
_FORMATS = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_MOST_FIELDS = 8
_SELECTABLE = frozenset({"string", "boolean", "integer"})


def validate_columns(columns: Sequence[Mapping[str, Any]] | None, path: str) -> list[FieldError]:
    """The errors of additionalPrinterColumns."""
    found = []
    for index, column in enumerate(columns or ()):
        found += _validate_column(column, f"{path}[{index}]")
    return found


def _validate_column(column: Mapping[str, Any], path: str) -> list[FieldError]:
    found = [] if column.get("name") else [field.required(f"{path}.name")]
    of_type, form, source = column.get("type") or "", column.get("format") or "", column.get("jsonPath") or ""
    types = f"must be one of {','.join(_TYPES)}"
    if not of_type:
        found.append(field.required(f"{path}.type", types))
    elif of_type not in _TYPES:
        found.append(field.invalid(f"{path}.type", of_type, types))
    if form and form not in _FORMATS:
        found.append(field.invalid(f"{path}.format", form, f"must be one of {','.join(_FORMATS)}"))
    if not source:
        return [*found, field.required(f"{path}.JSONPath")]
    return found + subresource_validation.validate_simple_path(source, f"{path}.JSONPath")


def validate_selectable(
    selected: Sequence[Mapping[str, Any]], schema: Schema, path: str, *, before: Sequence[Mapping[str, Any]]
) -> list[FieldError]:
    """The errors of selectableFields. More than the maximum are allowed when they equal the fields `before` the
    update.
    """
    found = []
    seen: set[tuple[str, ...]] = set()
    for index, one in enumerate(selected):
        text, where = one.get("jsonPath") or "", f"{path}[{index}].jsonPath"
        if not text:
            found.append(field.required(where))
            continue
        try:
            names, of_field = field_paths.resolve(text, schema, allows_brackets=False)
        except field_paths.InvalidFieldPath as exc:
            found.append(field.invalid(where, text, f"is an invalid path: {exc}"))
            continue
        found += _validate_selected(text, names, of_field, where)
        if tuple(names) in seen:
            found.append(field.duplicate(where, text))
        seen.add(tuple(names))
    if len(seen) > _MOST_FIELDS and list(before) != list(selected):
        found.append(field.too_many(path, len(seen), _MOST_FIELDS))
    return found


def _validate_selected(text: str, names: Sequence[str], of_field: Schema | None, path: str) -> list[FieldError]:
    found = []
    if names and names[0] == "metadata":
        found.append(field.invalid(path, text, "must not point to fields in metadata"))
    if of_field is None or of_field.get("type") not in _SELECTABLE:
        detail = (
            "must point to a field of type string, boolean or integer. "
            "Enum string fields and strings with formats are allowed."
        )
        found.append(field.invalid(path, text, detail))
    return found
