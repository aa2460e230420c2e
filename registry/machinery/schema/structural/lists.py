"""List types: sets hold nothing twice, and no two elements of a map have the same keys.

Pure. Values are as they will be stored, so defaults of keys are there.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import orjson

from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import FieldError
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.structural import members
from aio_apiserver.registry.machinery.schema.structural.plain import any_below

_UNIQUE = frozenset({"set", "map"})


def has_unique_lists(schema: Any) -> bool:
    """Whether a schema has sets or maps anywhere."""
    if not isinstance(schema, dict):
        return False
    if schema.get("x-kubernetes-list-type") in _UNIQUE:
        return True
    return any_below(has_unique_lists, schema)


def validate_lists(value: Any, schema: Schema | None, path: str = "") -> list[FieldError]:
    """The elements that are there twice."""
    if schema is None:
        return []
    if isinstance(value, list):
        return _validate_list(value, schema, path)
    if not isinstance(value, dict):
        return []
    properties = schema.get("properties") or {}
    others = members.additional(schema)
    found = []
    if others is not None:
        for name, item in value.items():
            if isinstance(item, dict | list):
                found += validate_lists(item, others, f"{path}[{name}]")
    for name, item in value.items():
        if name in properties and isinstance(item, dict | list):
            found += validate_lists(item, properties[name], field.child(path, name))
    return found


def _validate_list(value: list[Any], schema: Schema, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    match schema.get("x-kubernetes-list-type"):
        case "set":
            found += [field.duplicate(f"{path}[{index}]", _in_order(value[index])) for index in _repeated(value)]
        case "map":
            found += _validate_map(value, schema.get("x-kubernetes-list-map-keys") or (), path)
    below = members.of_items(schema)
    if below is not None:
        for index, item in enumerate(value):
            if isinstance(item, dict | list):
                found += validate_lists(item, below, f"{path}[{index}]")
    return found


def _validate_map(value: list[Any], names: Sequence[str], path: str) -> list[FieldError]:
    for index, item in enumerate(value):
        if item is not None and not isinstance(item, dict):
            wrong = "must be an object for an array of list-type map"
            return [field.invalid(f"{path}[{index}]", item, wrong)]
    keys = [{name: item[name] for name in names if name in item} if item else {} for item in value]
    return [field.duplicate(f"{path}[{index}]", _in_order(keys[index])) for index in _repeated(keys)]


def _in_order(value: Any) -> Any:
    """A value as errors show it: with the keys of maps in their order."""
    return orjson.loads(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))


def _repeated(values: Sequence[Any]) -> list[int]:
    """The places of values that have been there exactly once before."""
    seen: dict[Hashable, int] = {}
    repeated = []
    for index, value in enumerate(values):
        key = _identity(value)
        times = seen[key] = seen.get(key, 0) + 1
        if times == 2:
            repeated.append(index)
    return repeated


def _identity(value: Any) -> Hashable:
    """What is equal for equal values: JSON's true is not its 1."""
    if isinstance(value, dict | list):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    return type(value), value
