"""Fields: how the value of a selectable field is read from an object.

Pure. A field selector compares text, so every value is text. A missing field is empty, false or 0.
"""

from collections.abc import Callable, Mapping
from typing import Any

from aio_apiserver.base.unstructured import Object
from aio_apiserver.registry.base import objects

FieldOf = Callable[[Object], str]


def text(path: str) -> FieldOf:
    """The text at this path."""
    return MemberText(path) if path.count(".") == 1 else lambda obj: str(objects.get(obj, path, ""))


class MemberText:
    """The text of a member of a part, such as spec.nodeName."""

    __slots__ = ("member", "part")

    def __init__(self, path: str) -> None:
        self.part, _, self.member = path.partition(".")

    def __call__(self, obj: Object) -> str:
        inside: Any = obj.get(self.part)
        value = inside.get(self.member) if type(inside) is dict else None
        return "" if value is None else str(value)


def reader_of(fields: Mapping[str, FieldOf]) -> Callable[[Object], Mapping[str, str]]:
    """A function that reads all fields of an object. Each write calls it, and a pod has six texts of members."""
    members = [(name, of.part, of.member) for name, of in fields.items() if isinstance(of, MemberText)]
    others = [(name, of) for name, of in fields.items() if not isinstance(of, MemberText)]

    def read(obj: Object) -> Mapping[str, str]:
        found = {}
        for name, part, member in members:
            inside: Any = obj.get(part)
            value = inside.get(member) if type(inside) is dict else None
            found[name] = "" if value is None else str(value)
        for name, of in others:
            found[name] = of(obj)
        return found

    return read


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
