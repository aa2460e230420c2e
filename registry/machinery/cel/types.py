"""Types: CEL types, their text in messages, and the signatures of functions.

Pure. Must hold: a Type is complete except for the fields of an object. The environment knows these by the type's name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from msgspec import Struct


class TypeKind(Enum):
    """The kinds of CEL types."""

    DYN = "dyn"
    ERROR = "!error!"
    NULL = "null"
    BOOL = "bool"
    INT = "int"
    UINT = "uint"
    DOUBLE = "double"
    STRING = "string"
    BYTES = "bytes"
    TIMESTAMP = "timestamp"
    DURATION = "duration"
    TYPE = "type"
    LIST = "list"
    MAP = "map"
    OBJECT = "object"
    OPAQUE = "opaque"
    PARAM = "param"

    __hash__ = object.__hash__
    """Enum hashes the name of a member, which takes longer. Each member exists once, so identity suffices."""


class Type(Struct, frozen=True):
    """`name` is the name of an object, opaque type or parameter, else the name of the kind."""

    kind: TypeKind
    name: str
    params: tuple["Type", ...] = ()

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(map(str, self.params))})"

    @property
    def is_wild(self) -> bool:
        """Whether every type can be assigned to it and from it."""
        return self.kind is TypeKind.DYN or self.kind is TypeKind.ERROR

    @property
    def is_optional(self) -> bool:
        return self.kind is TypeKind.OPAQUE and self.name == OPTIONAL_NAME


OPTIONAL_NAME = "optional_type"

_DECLARED = {
    "any": "google.protobuf.Any",
    "duration": "google.protobuf.Duration",
    "null": "null_type",
    "timestamp": "google.protobuf.Timestamp",
}


def declared(of: Type) -> str:
    """The text of a type in declarations, which differs from the text in the checker's messages."""
    name = _DECLARED.get(of.name, of.name)
    return f"{name}({', '.join(map(declared, of.params))})" if of.params else name


def _simple(kind: TypeKind) -> Type:
    return Type(kind, kind.value)


DYN = _simple(TypeKind.DYN)
ANY = Type(TypeKind.DYN, "any")
"""google.protobuf.Any: dynamic, but not usable as a list or map."""
ERROR = _simple(TypeKind.ERROR)
NULL = _simple(TypeKind.NULL)
BOOL = _simple(TypeKind.BOOL)
INT = _simple(TypeKind.INT)
UINT = _simple(TypeKind.UINT)
DOUBLE = _simple(TypeKind.DOUBLE)
STRING = _simple(TypeKind.STRING)
BYTES = _simple(TypeKind.BYTES)
TIMESTAMP = _simple(TypeKind.TIMESTAMP)
DURATION = _simple(TypeKind.DURATION)
TYPE = _simple(TypeKind.TYPE)

SIMPLE = {one.name: one for one in (DYN, NULL, BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION, TYPE)}


def list_of(element: Type) -> Type:
    return Type(TypeKind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type(TypeKind.MAP, "map", (key, value))


def optional_of(value: Type) -> Type:
    return Type(TypeKind.OPAQUE, OPTIONAL_NAME, (value,))


def type_of(value: Type) -> Type:
    """The type of a type name in an expression."""
    return Type(TypeKind.TYPE, "type", (value,))


def object_named(name: str) -> Type:
    return Type(TypeKind.OBJECT, name)


def opaque(name: str) -> Type:
    return Type(TypeKind.OPAQUE, name)


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function."""

    id: str
    arguments: tuple[Type, ...]
    result: Type
    is_member: bool = False
    is_generic: bool = field(init=False)
    """Whether it has type parameters."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_generic", any(map(_has_parameters, (self.result, *self.arguments))))


def _has_parameters(of: Type) -> bool:
    return of.kind is TypeKind.PARAM or any(map(_has_parameters, of.params))


class Function(Struct, frozen=True):
    """A function with its overloads."""

    name: str
    overloads: tuple[Overload, ...]


_TOKEN = re.compile(r"[\w.]+|[(),]")
_MEMBER = re.compile(r"(?P<receiver>.+?)\.\((?P<arguments>.*)\) -> (?P<result>.+)")
_GLOBAL = re.compile(r"\((?P<arguments>.*)\) -> (?P<result>.+)")


def overload(identity: str, signature: str, named: dict[str, Type] | None = None) -> Overload:
    """An overload from its signature: `(string, int) -> bool`, or `list(A).(A) -> int` for a member.

    A single capital letter is a type parameter. Other names are simple types or keys of `named`.
    """
    match = _GLOBAL.fullmatch(signature) or _MEMBER.fullmatch(signature)
    assert match, signature
    parts = match.groupdict()
    arguments = tuple(_parsed_list(parts["arguments"], named or {}))
    if "receiver" in parts:
        arguments = (_parsed(parts["receiver"], named or {}), *arguments)
    return Overload(identity, arguments, _parsed(parts["result"], named or {}), "receiver" in parts)


def _parsed(text: str, named: dict[str, Type]) -> Type:
    [only] = _parsed_list(text, named)
    return only


def _parsed_list(text: str, named: dict[str, Type]) -> Iterator[Type]:
    tokens = _TOKEN.findall(text)
    at = 0

    def one() -> Type:
        nonlocal at
        name = tokens[at]
        at += 1
        params: list[Type] = []
        if at < len(tokens) and tokens[at] == "(":
            while tokens[at] != ")":
                at += 1
                params.append(one())
            at += 1
        return _parameterized(name, tuple(params), named)

    while at < len(tokens):
        yield one()
        at += 1


def _parameterized(name: str, params: tuple[Type, ...], named: dict[str, Type]) -> Type:
    if name == "list":
        return list_of(*params)
    if name == "map":
        return map_of(*params)
    if name == "optional":
        return optional_of(*params)
    if name == "type" and params:
        return type_of(*params)
    if len(name) == 1 and name.isupper():
        return Type(TypeKind.PARAM, name)
    return named[name] if name in named else SIMPLE[name]
