"""Defaults of structural schemas: filled in, in place, where a value is missing, or null where null is no value.

Must hold: each place gets a copy of its own; a default is itself completed by the defaults within it.
"""

from typing import Any

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural import members
from aio_apiserver.registry.machinery.schema.structural.plain import any_below


def apply_defaults(value: Any, schema: Schema | None) -> None:
    """Fill in the defaults within a value."""
    if schema is None:
        return
    if isinstance(value, dict):
        _complete(value, schema)
        for name, item in value.items():
            if isinstance(item, dict | list):
                apply_defaults(item, members.of_member(schema, name))
    elif isinstance(value, list):
        below = members.of_items(schema)
        for index, item in enumerate(value):
            if item is None and below is not None and not below.get("nullable"):
                value[index] = item = objects.copied(below.get("default"))
            if isinstance(item, dict | list):
                apply_defaults(item, below)


def _complete(value: dict[str, Any], schema: Schema) -> None:
    """Give an object the members that it lacks."""
    properties: dict[str, Schema] = schema.get("properties") or {}
    for name, below in properties.items():
        default = below.get("default")
        if default is not None and (name not in value or (value[name] is None and not below.get("nullable"))):
            value[name] = objects.copied(default)
    others = members.additional(schema)
    if others is not None and not others.get("nullable"):
        for name, item in value.items():
            if item is None and name not in properties:
                value[name] = objects.copied(others.get("default"))


def has_defaults(schema: Any) -> bool:
    """Whether a default stands anywhere in a structural schema."""
    if not isinstance(schema, dict):
        return False
    if schema.get("default") is not None:
        return True
    return any_below(has_defaults, schema)
