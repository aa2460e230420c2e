"""Semver: the CEL library `semver`, for Semantic Versioning 2.0.0."""

import re
from functools import total_ordering

from msgspec import Struct

from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.types import Type, TypeKind
from aio_apiserver.registry.machinery.cel.values import MAX_UINT, EvaluationError, Opaque, whole_number

SEMVER = Type(TypeKind.OBJECT, "kubernetes.Semver")

_NUMBER = r"(0|[1-9]\d*)"
_PRE = r"(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_PATTERN = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-({_PRE}(?:\.{_PRE})*))?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?", re.ASCII
)

_Key = tuple[tuple[int, int, int], bool, tuple[tuple[bool, int, str], ...]]


@total_ordering
class SemverValue(Struct, Opaque, frozen=True, eq=False):
    """The CEL value of a version. Build metadata behind `+` does not count."""

    numbers: tuple[int, int, int]
    before: tuple[str, ...]
    type_name = SEMVER.name

    @property
    def _key(self) -> _Key:
        parts = tuple((not part.isdigit(), len(part) if part.isdigit() else 0, part) for part in self.before)
        return self.numbers, not self.before, parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SemverValue) and self._key == other._key

    def __lt__(self, other: "SemverValue") -> bool:
        return self._key < other._key

    def __hash__(self) -> int:
        return hash(self._key)


def _read(text: str) -> SemverValue | None:
    match = _PATTERN.fullmatch(text)
    if match is None:
        return None
    before = tuple(match[4].split(".")) if match[4] else ()
    if not all(_fits(part) for part in (*match.group(1, 2, 3), *before) if part.isdigit()):
        return None
    return SemverValue((int(match[1]), int(match[2]), int(match[3])), before)


def _fits(digits: str) -> bool:
    number = whole_number(digits)
    return number is not None and number <= MAX_UINT


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    parts = [_without_zeros(part) for part in parts]
    if len(parts) < 3 and re.search(r"[+-]", parts[-1]):
        return ""
    return ".".join([*parts, "0", "0"][:3])


def _without_zeros(part: str) -> str:
    if len(part) <= 1:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1].isdigit() else "0" + stripped


def parsed(text: str, normalizes: bool = False) -> SemverValue:
    """The value of a text. Raises EvaluationError."""
    version = _read(_normalized(text) if normalizes else text)
    if version is None:
        raise EvaluationError("No Major.Minor.Patch elements found")
    return version


def _is_semver(text: str, normalizes: bool = False) -> bool:
    return _read(_normalized(text) if normalizes else text) is not None


def _compare(one: SemverValue, other: SemverValue) -> int:
    return (one > other) - (one < other)


LIBRARY = Library(
    functions(
        {
            "semver": [
                ("string_to_semver", "(string) -> Semver"),
                ("string_bool_to_semver", "(string, bool) -> Semver"),
            ],
            "isSemver": [("is_semver_string", "(string) -> bool"), ("is_semver_string_bool", "(string, bool) -> bool")],
            "isGreaterThan": [("semver_is_greater_than", "Semver.(Semver) -> bool")],
            "isLessThan": [("semver_is_less_than", "Semver.(Semver) -> bool")],
            "compareTo": [("semver_compare_to", "Semver.(Semver) -> int")],
            "major": [("semver_major", "Semver.() -> int")],
            "minor": [("semver_minor", "Semver.() -> int")],
            "patch": [("semver_patch", "Semver.() -> int")],
        },
        {"Semver": SEMVER},
    ),
    {
        "string_to_semver": parsed,
        "string_bool_to_semver": parsed,
        "is_semver_string": _is_semver,
        "is_semver_string_bool": _is_semver,
        "semver_is_greater_than": lambda one, other: one > other,
        "semver_is_less_than": lambda one, other: one < other,
        "semver_compare_to": _compare,
        "semver_major": lambda version: version.numbers[0],
        "semver_minor": lambda version: version.numbers[1],
        "semver_patch": lambda version: version.numbers[2],
    },
)
