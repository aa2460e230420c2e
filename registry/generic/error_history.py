"""error_history: field errors and warnings that had other words, or did not exist, in other minors.

A kind's rules find errors as the default minor has them. A row says what became of some of them in the minors of its
lifetime. Assembly chooses the rows of a minor; they are read when a rule has found an error. Must hold: in the default
minor no row is in effect.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from aio_apiserver.registry.base.timeline import Lifetime, Version
from aio_apiserver.registry.base.validation import field
from aio_apiserver.registry.base.validation.field import ErrorType, FieldError

Become = Callable[[FieldError], Sequence[FieldError]]
"""What an error becomes: nothing, one error, or several."""


class ErrorRow(Struct, frozen=True, kw_only=True):
    """What became of the errors at some paths. path, detail: regular expressions for the whole text.

    value: the bad value, if the row speaks of one alone.
    is_last: the error stands behind those of other rules.
    follows: the row is for all errors, also for what other rows have made of them.
    """

    path: str
    during: Lifetime
    becomes: Become
    type: ErrorType | None = None
    detail: str = ".*"
    value: str | None = None
    is_last: bool = False
    follows: bool = False

    def matches(self, error: FieldError) -> bool:
        """Whether the row speaks of an error."""
        return (
            (self.type is None or self.type is error.type)
            and (self.value is None or self.value == error.value)
            and re.fullmatch(self.detail, error.detail, re.DOTALL) is not None
            and re.fullmatch(self.path, error.path, re.DOTALL) is not None
        )


class WarningRow(Struct, frozen=True, kw_only=True):
    """What became of a warning. text: a regular expression. becomes: its replacement; None when there is no warning."""

    text: str
    during: Lifetime
    becomes: str | None = None


def since(version: Version, path: str, becomes: Become, **more: Any) -> ErrorRow:
    """What the errors at some paths have become from a minor on."""
    return ErrorRow(path=path, becomes=becomes, during=Lifetime(since=version), **more)


def until(version: Version, path: str, becomes: Become, **more: Any) -> ErrorRow:
    """What the errors at some paths were before a minor."""
    return ErrorRow(path=path, becomes=becomes, during=Lifetime(until=version), **more)


def warned_until(version: Version, text: str, becomes: str | None = None) -> WarningRow:
    """What a warning was before a minor; without `becomes`, there was none."""
    return WarningRow(text=text, during=Lifetime(until=version), becomes=becomes)


def warned_since(version: Version, text: str, becomes: str | None = None) -> WarningRow:
    """What a warning is from a minor on; without `becomes`, there is none."""
    return WarningRow(text=text, during=Lifetime(since=version), becomes=becomes)


def absent(_error: FieldError) -> Sequence[FieldError]:
    """The error does not exist."""
    return ()


def twice(error: FieldError) -> Sequence[FieldError]:
    """The error, found by two rules."""
    return (error, error)


def unchanged(error: FieldError) -> Sequence[FieldError]:
    """The error as it is, for rows that move it."""
    return (error,)


def worded(detail: str) -> Become:
    """The error with another detail."""
    return lambda error: (replace(error, detail=detail),)


def showing(value: object) -> Become:
    """The error with another value."""
    return lambda error: (replace(error, value=value),)


def below(name: str) -> Become:
    """The error at a member of its path."""
    return lambda error: (replace(error, path=f"{error.path}.{name}"),)


def required_too(error: FieldError) -> Sequence[FieldError]:
    """The error as that of a missing value."""
    return (field.required(error.path, error.detail),)


def instead(error: FieldError) -> Become:
    """Another error."""
    return lambda _error: (error,)


def retold(errors: Iterable[FieldError], rows: Sequence[ErrorRow]) -> list[FieldError]:
    """The errors as a minor has them."""
    found: list[FieldError] = []
    last: list[FieldError] = []
    for error in errors:
        row = next((one for one in rows if not one.follows and one.matches(error)), None)
        if row is None:
            found.append(error)
        else:
            (last if row.is_last else found).extend(row.becomes(error))
    return _followed(found + last, rows)


def _followed(errors: list[FieldError], rows: Sequence[ErrorRow]) -> list[FieldError]:
    """The errors after the rows that follow others."""
    for row in rows:
        if row.follows:
            errors = [one for error in errors for one in (row.becomes(error) if row.matches(error) else (error,))]
    return errors


def once(errors: Iterable[FieldError]) -> list[FieldError]:
    """The errors without repetitions."""
    return list({str(error): error for error in errors}.values())


def warnings_of_minor(warnings: Iterable[str], rows: Sequence[WarningRow]) -> list[str]:
    """The warnings as a minor has them."""
    found = []
    for warning in warnings:
        row = next((one for one in rows if re.search(one.text, warning)), None)
        if row is None:
            found.append(warning)
        elif row.becomes is not None:
            found.append(re.sub(row.text, row.becomes, warning))
    return found


def errors_at(rows: Sequence[ErrorRow], version: Version) -> tuple[ErrorRow, ...]:
    """The rows that are in effect in a minor."""
    return tuple(row for row in rows if row.during.has(version))


def warnings_at(rows: Sequence[WarningRow], version: Version) -> tuple[WarningRow, ...]:
    """The rows of warnings that are in effect in a minor."""
    return tuple(row for row in rows if row.during.has(version))
