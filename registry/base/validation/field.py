"""Field: field errors, upstream's field.Error, with kube-apiserver's words.

A path is a text as messages show it: `spec.containers[0].name`, `data[key]`. A rule returns its errors in the order of
its checks. The caller turns a non-empty list into one Invalid.

Must hold: `body` is the message of a cause, letter for letter. It shows the bad value as Go prints it: strings quoted,
all else as JSON.
"""

from collections.abc import Iterable
from enum import Enum
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.registry.base.golang import text as gotext
from aio_apiserver.registry.base.golang.quoting import quote


class ErrorType(Enum):
    """The type of a field error: its reason in a cause, and the beginning of its message."""

    NOT_FOUND = ("FieldValueNotFound", "Not found")
    REQUIRED = ("FieldValueRequired", "Required value")
    DUPLICATE = ("FieldValueDuplicate", "Duplicate value")
    INVALID = ("FieldValueInvalid", "Invalid value")
    NOT_SUPPORTED = ("FieldValueNotSupported", "Unsupported value")
    FORBIDDEN = ("FieldValueForbidden", "Forbidden")
    TOO_LONG = ("FieldValueTooLong", "Too long")
    TOO_MANY = ("FieldValueTooMany", "Too many")
    INTERNAL = ("InternalError", "Internal error")
    TYPE_INVALID = ("FieldValueTypeInvalid", "Invalid value")

    @property
    def reason(self) -> str:
        return self.value[0]

    @property
    def title(self) -> str:
        return self.value[1]


_OMITTED = object()
"""Marks errors that show no bad value."""


class FieldError(Struct, frozen=True):
    """One mistake in one field."""

    type: ErrorType
    path: str
    value: Any = _OMITTED
    detail: str = ""
    position: int = 0
    """The index in a list that the path does not show."""

    @property
    def shows_value(self) -> bool:
        """Whether it shows the bad value."""
        return self.value is not _OMITTED

    @property
    def body(self) -> str:
        """The message of the cause: type, value and detail."""
        text = self.type.title
        if self.shows_value:
            is_enum = self.type is ErrorType.NOT_SUPPORTED and type(self.value) is str
            text += ": " + show(TypedText(self.value) if is_enum else self.value)
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.path}: {self.body}"


class GoText(str):
    """A value in Go's syntax, which is shown as it is."""

    __slots__ = ()


class TypedText(str):
    """A text with a type of its own in Go: an enum, the name of a resource, a percentage. It is shown as JSON."""

    __slots__ = ()


def show(value: Any) -> str:
    """A bad value as Go prints it in an error."""
    if isinstance(value, GoText):
        return value
    if isinstance(value, str) and not isinstance(value, TypedText):
        return quote(value)
    if isinstance(value, float):
        return gotext.float_text(value)
    return escaped(_json(value))


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def escaped(text: str) -> str:
    """JSON with the escapes of Go's encoder."""
    return text.translate(_GO_ESCAPES)


_GO_ESCAPES = {ord(char): f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"}
"""Characters that Go's JSON encoder escapes and orjson does not."""


def child(path: str, name: str) -> str:
    """The path of a member."""
    return f"{path}.{name}" if path else name


def required(path: str, detail: str = "") -> FieldError:
    return FieldError(ErrorType.REQUIRED, path, detail=detail)


def invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(ErrorType.INVALID, path, value, detail)


def invalid_typed(path: str, value: str, detail: str) -> FieldError:
    """The error of a text with a type of its own in Go."""
    return invalid(path, TypedText(value), detail)


def type_invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(ErrorType.TYPE_INVALID, path, value, detail)


def duplicate(path: str, value: Any) -> FieldError:
    return FieldError(ErrorType.DUPLICATE, path, value)


def invalid_each(path: str, value: Any, details: Iterable[str]) -> list[FieldError]:
    """One error for each detail."""
    return [invalid(path, value, detail) for detail in details] if details else []


def not_found(path: str, value: Any) -> FieldError:
    return FieldError(ErrorType.NOT_FOUND, path, value)


def forbidden(path: str, detail: str) -> FieldError:
    return FieldError(ErrorType.FORBIDDEN, path, detail=detail)


def internal(path: str, detail: str) -> FieldError:
    return FieldError(ErrorType.INTERNAL, path, detail=detail)


def not_supported(path: str, value: Any, supported: Iterable[str]) -> FieldError:
    """`supported` is listed in the given order."""
    listed = ", ".join(map(quote, supported))
    return FieldError(ErrorType.NOT_SUPPORTED, path, value, f"supported values: {listed}" if listed else "")


def too_long(path: str, limit: int, *, unit: str = "byte") -> FieldError:
    return FieldError(ErrorType.TOO_LONG, path, detail=f"may not be more than {limit} {_plural(unit, limit)}")


def too_many(path: str, count: int, limit: int) -> FieldError:
    return FieldError(ErrorType.TOO_MANY, path, count, f"must have at most {limit} {_plural('item', limit)}")


def _plural(unit: str, count: int) -> str:
    return unit if count == 1 else unit + "s"
