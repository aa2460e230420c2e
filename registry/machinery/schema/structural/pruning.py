"""Pruning: removes fields from a custom resource that its structural schema does not specify, in place.

Must hold: apiVersion, kind and metadata of resources, also of embedded ones, stay. Below
x-kubernetes-preserve-unknown-fields, the parts with a schema are pruned. A null that is not nullable and has no default
is removed.
"""

from typing import Any

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural import members

META_FIELDS = frozenset({"apiVersion", "kind", "metadata"})

_NOTHING: Schema = {}


def prune(obj: dict[str, Any], schema: Schema | None) -> list[str]:
    """Prune a custom resource. Returns the removed paths, sorted."""
    unknown: list[str] = []
    _prune(obj, schema if schema is not None else _NOTHING, "", unknown, is_resource=True)
    return sorted(unknown)


def prune_value(value: Any, schema: Schema | None, *, is_resource: bool = False) -> None:
    """Prune any value. A resource keeps its apiVersion, kind and metadata."""
    _prune(value, schema, "", [], is_resource=is_resource)


def drop_nulls(value: Any, schema: Schema | None) -> None:
    """Remove null members that are neither nullable nor replaced by a default."""
    if isinstance(value, dict):
        for name in list(value):
            below = members.of_member(schema, name)
            if value[name] is None:
                if below is not None and not below.get("nullable") and below.get("default") is None:
                    del value[name]
            elif isinstance(value[name], dict | list):
                drop_nulls(value[name], below)
    elif isinstance(value, list):
        below = members.of_items(schema)
        for item in value:
            if isinstance(item, dict | list):
                drop_nulls(item, below)


def _prune(value: Any, schema: Schema | None, path: str, unknown: list[str], *, is_resource: bool = False) -> None:
    if not isinstance(value, dict | list):
        return
    if schema is not None:
        is_resource = is_resource or bool(schema.get("x-kubernetes-embedded-resource"))
        if schema.get("x-kubernetes-preserve-unknown-fields"):
            _skip(value, schema, path, unknown, is_resource=is_resource)
            return
    if isinstance(value, list):
        below = members.of_items(schema)
        for index, item in enumerate(value):
            _prune(item, below, f"{path}[{index}]", unknown)
        return
    _prune_members(value, schema, path, unknown, is_resource=is_resource)


def _prune_members(
    value: dict[str, Any], schema: Schema | None, path: str, unknown: list[str], *, is_resource: bool
) -> None:
    for name in list(value):
        if is_resource and name in META_FIELDS:
            continue
        if schema is not None and members.allows(schema, name):
            if isinstance(value[name], dict | list):
                _prune(value[name], members.of_member(schema, name), field.child(path, name), unknown)
            continue
        if path or name not in META_FIELDS:
            unknown.append(field.child(path, name))
        del value[name]


def _skip(value: Any, schema: Schema | None, path: str, unknown: list[str], *, is_resource: bool = False) -> None:
    """Keep unknown fields, and prune the specified ones."""
    if schema is None:
        return
    is_resource = is_resource or bool(schema.get("x-kubernetes-embedded-resource"))
    if isinstance(value, list):
        below = members.of_items(schema)
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                _skip(item, below, f"{path}[{index}]", unknown)
    elif isinstance(value, dict):
        for name, item in value.items():
            is_kept = not isinstance(item, dict | list) or (is_resource and name in META_FIELDS)
            if not is_kept and members.allows(schema, name):
                _prune(item, members.of_member(schema, name), field.child(path, name), unknown)
