"""Plain objects: reading and writing along dotted paths, and fresh copies.

Pure. Objects are decoded JSON; a path names members of nested maps, never list elements.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import orjson

from aio_apiserver.storage.stored_object import Object

T = TypeVar("T")


def clone(value: T) -> T:
    """A deep copy of decoded JSON. Through JSON text: that is the fastest way there is."""
    copied: T = orjson.loads(orjson.dumps(value))
    return copied


def copied(value: T) -> T:
    """A deep copy, of a single value as well."""
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
    """Give the new object the old one's member, or none if that has none."""
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)


def put(obj: Object, path: str, value: Any) -> None:
    """Set the value at a dotted path, making the maps on the way."""
    *parents, last = path.split(".")
    for name in parents:
        child = obj.get(name)
        if not isinstance(child, dict):
            child = obj[name] = {}
        obj = child
    obj[last] = value
