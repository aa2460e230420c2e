"""Fields: how the value of a selectable field is read from an object.

Pure. A field selector compares text, so every value is text. A missing field is empty, false or 0.
"""

from collections.abc import Callable
from typing import Any

from aio_apiserver.registry.base import objects
from aio_apiserver.storage.stored_object import Object

FieldOf = Callable[[Object], str]


def text(path: str) -> FieldOf:
    """The text at this path."""
    return _shallow(path) if path.count(".") == 1 else lambda obj: str(objects.get(obj, path, ""))


def _shallow(path: str) -> FieldOf:
    """The text of a member of a part: without a walk, because each write of a pod reads six."""
    part, _, member = path.partition(".")

    def of(obj: Object) -> str:
        inside: Any = obj.get(part)
        value = inside.get(member) if type(inside) is dict else None
        return "" if value is None else str(value)

    return of


def first(*paths: str) -> FieldOf:
    """The first text that is not empty."""
    return lambda obj: next((str(value) for path in paths if (value := objects.get(obj, path))), "")


def flag(path: str) -> FieldOf:
    """A boolean as `true` or `false`."""
    value_of = text(path)
    return lambda obj: "true" if value_of(obj) == "True" else "false"


def count(path: str) -> FieldOf:
    """A number; 0 when the field is missing."""
    return lambda obj: str(objects.get(obj, path, 0))


def first_of(path: str, member: str) -> FieldOf:
    """A member of the first element of a list."""

    def of(obj: Object) -> str:
        for element in objects.get(obj, path, ()):
            return str(element.get(member, ""))
        return ""

    return of


def nothing(_obj: Object) -> str:
    """A selectable field whose value is always empty."""
    return ""
