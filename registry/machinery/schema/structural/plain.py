"""Plain schemas: scalars of which nothing is said that could be wrong, or that anything hangs on.

Nearly all parts of real definitions are such, so whoever looks through a whole schema for something leaves them out.
Pure.
"""

from collections.abc import Callable
from typing import Any

from aio_apiserver.registry.machinery.schema.model import Schema

_SAID = frozenset({"type", "description", "title", "minLength", "maxLength", "enum"})
_TYPES = frozenset({"string", "integer", "boolean", "number"})


def is_plain(schema: Any) -> bool:
    """Whether a schema holds no other, no rule, no default and no format, and cannot be unsound."""
    return isinstance(schema, dict) and schema.keys() <= _SAID and schema.get("type") in _TYPES


def any_below(holds: Callable[[Any], bool], schema: Schema) -> bool:
    """Whether something that is never true of plain schemas holds for one right below a structural schema."""
    for member in (schema.get("properties") or {}).values():
        if not is_plain(member) and holds(member):
            return True
    return holds(schema.get("items")) or holds(schema.get("additionalProperties"))
