"""Rules in CEL (x-kubernetes-validations): where a schema states them."""

from typing import Any

from aio_apiserver.registry.machinery.schema.structural.plain import any_below


def has_rules(schema: Any) -> bool:
    """Whether a schema has rules anywhere."""
    if not isinstance(schema, dict):
        return False
    if schema.get("x-kubernetes-validations"):
        return True
    return any_below(has_rules, schema) or any(map(has_rules, schema.get("allOf") or ()))
