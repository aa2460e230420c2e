"""Plain: recognizes scalar schemas without defaults, rules and formats, so that walks over schemas can skip them. Pure.

Most parts of real CRDs are such schemas.
"""

from collections.abc import Callable
from typing import Any

from aio_apiserver.registry.machinery.schema.model import Schema

_SCALAR_MEMBERS = frozenset({"type", "description", "title", "minLength", "maxLength", "enum"})
_TYPES = frozenset({"string", "integer", "boolean", "number"})


def is_plain(schema: Any) -> bool:
    """Whether a schema is a scalar without nested schema, rule, default or format, and valid in itself."""
    return isinstance(schema, dict) and schema.keys() <= _SCALAR_MEMBERS and schema.get("type") in _TYPES


def any_below(holds: Callable[[Any], bool], schema: Schema) -> bool:
    """Whether a test holds for a schema directly below. The test must be false for plain schemas."""
    for member in (schema.get("properties") or {}).values():
        if not is_plain(member) and holds(member):
            return True
    return holds(schema.get("items")) or holds(schema.get("additionalProperties"))
