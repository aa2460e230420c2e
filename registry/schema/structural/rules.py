"""Rules in CEL (x-kubernetes-validations): where a schema states them."""

from typing import Any


def has_rules(schema: Any) -> bool:
    """Whether a schema has rules anywhere."""
    if not isinstance(schema, dict):
        return False
    if schema.get("x-kubernetes-validations"):
        return True
    below = [*(schema.get("properties") or {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return any(map(has_rules, [*below, *(schema.get("allOf") or ())]))
