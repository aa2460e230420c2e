"""Selectable fields: how their values are read from an object.

Pure. A field selector compares text, so every value is text, and a field that is not set is empty (or false, or 0).
"""

from collections.abc import Callable

from aio_apiserver.registry.base import objects
from aio_apiserver.storage.stored_object import Object

FieldOf = Callable[[Object], str]


def text(path: str) -> FieldOf:
    """The text at a path."""
    return lambda obj: str(objects.get(obj, path, ""))


def first(*paths: str) -> FieldOf:
    """The first text that is not empty."""
    return lambda obj: next((str(value) for path in paths if (value := objects.get(obj, path))), "")


def flag(path: str) -> FieldOf:
    """A boolean: `true` or `false`."""
    return lambda obj: "true" if objects.get(obj, path) else "false"


def count(path: str) -> FieldOf:
    """A number, 0 when it is not set."""
    return lambda obj: str(objects.get(obj, path, 0))


def first_of(path: str, member: str) -> FieldOf:
    """A member of the first element of a list."""
    return lambda obj: next((str(element.get(member, "")) for element in objects.get(obj, path, ())), "")


def nothing(_obj: Object) -> str:
    """The field may be asked for, and is always empty."""
    return ""
