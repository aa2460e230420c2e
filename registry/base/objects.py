"""Objects: access to decoded JSON by dotted paths, and deep copies.

Pure. A path names members of nested maps, not list elements.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import orjson

from aio_apiserver.base.unstructured import Object

T = TypeVar("T")


def clone(value: T) -> T:
    """A deep copy of decoded JSON. The way through JSON text is the fastest in Python."""
    copied: T = orjson.loads(orjson.dumps(value))
    return copied


def copied(value: T) -> T:
    """A deep copy of a container; a scalar is returned as it is."""
    return clone(value) if isinstance(value, dict | list) else value


def get(obj: Mapping[str, Any], path: str, default: Any = None) -> Any:
    """The value at a dotted path; the default when any part of it is missing or null."""
    value: Any = obj
    for name in path.split("."):
        if not isinstance(value, dict):
            return default
        value = value.get(name)
        if value is None:
            return default
    return value


def carry_over(new: Object, old: Mapping[str, Any], name: str) -> None:
    """Copy the member of the old object to the new one; remove it when the old object has none."""
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)


def put(obj: Object, path: str, value: Any) -> None:
    """Set the value at a dotted path, and create the missing maps on the way."""
    *parents, last = path.split(".")
    for name in parents:
        child = obj.get(name)
        if not isinstance(child, dict):
            child = obj[name] = {}
        obj = child
    obj[last] = value
