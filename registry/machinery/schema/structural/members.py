"""Members: the structural schemas of the members and elements of a value.

None means that there is no schema, so that nothing is known below. An empty schema is something else.
"""

from typing import Any

from aio_apiserver.registry.machinery.schema.model import Schema


def of_member(schema: Schema | None, name: str) -> Schema | None:
    """The schema of a member: the one of its property, else the one of additionalProperties."""
    if schema is None:
        return None
    properties = schema.get("properties")
    if properties and name in properties:
        found: Schema = properties[name]
        return found
    return additional(schema)


def additional(schema: Schema) -> Schema | None:
    """The schema in additionalProperties; None when there is none, even where any member is allowed."""
    found: Any = schema.get("additionalProperties")
    return found if isinstance(found, dict) else None


def allows(schema: Schema, name: str) -> bool:
    """Whether an object may have this member."""
    return name in (schema.get("properties") or ()) or "additionalProperties" in schema


def of_items(schema: Schema | None) -> Schema | None:
    """The schema of list elements."""
    found: Any = schema.get("items") if schema else None
    return found if isinstance(found, dict) else None
