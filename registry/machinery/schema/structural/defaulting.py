"""Defaulting: applies the defaults of a structural schema in place, for missing members and for nulls not allowed.

Must hold: each use gets its own copy of a default. A default is completed by the defaults inside of it.
"""

from typing import Any

from aio_apiserver.registry.base import objects
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural import members
from aio_apiserver.registry.machinery.schema.structural.plain import any_below


def apply_defaults(value: Any, schema: Schema | None) -> None:
    """Apply the defaults in a value."""
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
    """Add the missing members of an object."""
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
    """Whether a structural schema contains a default."""
    if not isinstance(schema, dict):
        return False
    if schema.get("default") is not None:
        return True
    return any_below(has_defaults, schema)
