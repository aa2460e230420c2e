"""The schemas of the parts of a value, as a structural schema gives them.

None is no schema at all, which is not the same as an empty one: nothing is known below it.
"""

from typing import Any

from aio_apiserver.registry.machinery.schema.model import Schema


def of_member(schema: Schema | None, name: str) -> Schema | None:
    """The schema of a member of an object: its property, or else that of all other members."""
    if schema is None:
        return None
    properties = schema.get("properties")
    if properties and name in properties:
        found: Schema = properties[name]
        return found
    return additional(schema)


def additional(schema: Schema) -> Schema | None:
    """The schema of members that are no properties; None when there is none, also where any are allowed."""
    found: Any = schema.get("additionalProperties")
    return found if isinstance(found, dict) else None


def allows(schema: Schema, name: str) -> bool:
    """Whether an object may have a member."""
    return name in (schema.get("properties") or ()) or "additionalProperties" in schema


def of_items(schema: Schema | None) -> Schema | None:
    """The schema of the elements of a list."""
    found: Any = schema.get("items") if schema else None
    return found if isinstance(found, dict) else None
