"""Types of expressions, and how they are written in messages and in declarations.

Pure. Must hold: a Type says everything of itself but the fields of an object, which an environment knows by its name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from msgspec import Struct


class Kind(Enum):
    """What sort of type it is."""

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
    """There is one of each: what an Enum hashes, its name, takes longer."""


class Type(Struct, frozen=True):
    """`name` is that of an object, of an opaque type or of a parameter, else the kind's."""

    kind: Kind
    name: str
    params: tuple["Type", ...] = ()

    def __str__(self) -> str:
        if not self.params:
            return self.name
        return f"{self.name}({', '.join(map(str, self.params))})"

    @property
    def is_wild(self) -> bool:
        """Whether it takes and gives everything."""
        return self.kind is Kind.DYN or self.kind is Kind.ERROR

    @property
    def is_optional(self) -> bool:
        return self.kind is Kind.OPAQUE and self.name == OPTIONAL_NAME


OPTIONAL_NAME = "optional_type"

_DECLARED = {
    "any": "google.protobuf.Any",
    "duration": "google.protobuf.Duration",
    "null": "null_type",
    "timestamp": "google.protobuf.Timestamp",
}


def declared(of: Type) -> str:
    """A type as it is declared, which is not how the messages of the checker write it."""
    name = _DECLARED.get(of.name, of.name)
    return f"{name}({', '.join(map(declared, of.params))})" if of.params else name


def _simple(kind: Kind) -> Type:
    return Type(kind, kind.value)


DYN = _simple(Kind.DYN)
ANY = Type(Kind.DYN, "any")
"""What a message may hold: it is dynamic, but no list or map."""
ERROR = _simple(Kind.ERROR)
NULL = _simple(Kind.NULL)
BOOL = _simple(Kind.BOOL)
INT = _simple(Kind.INT)
UINT = _simple(Kind.UINT)
DOUBLE = _simple(Kind.DOUBLE)
STRING = _simple(Kind.STRING)
BYTES = _simple(Kind.BYTES)
TIMESTAMP = _simple(Kind.TIMESTAMP)
DURATION = _simple(Kind.DURATION)
TYPE = _simple(Kind.TYPE)

SIMPLE = {one.name: one for one in (DYN, NULL, BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION, TYPE)}


def list_of(element: Type) -> Type:
    return Type(Kind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type(Kind.MAP, "map", (key, value))


def optional_of(value: Type) -> Type:
    return Type(Kind.OPAQUE, OPTIONAL_NAME, (value,))


def type_of(value: Type) -> Type:
    """The type of a type's name in an expression."""
    return Type(Kind.TYPE, "type", (value,))


def object_named(name: str) -> Type:
    return Type(Kind.OBJECT, name)


def opaque(name: str) -> Type:
    return Type(Kind.OPAQUE, name)


@dataclass(frozen=True, slots=True)
class Overload:
    """One way to call a function."""

    id: str
    arguments: tuple[Type, ...]
    result: Type
    is_member: bool = False
    is_generic: bool = field(init=False)
    """Whether it has parameters."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_generic", any(map(_has_parameters, (self.result, *self.arguments))))


def _has_parameters(of: Type) -> bool:
    return of.kind is Kind.PARAM or any(map(_has_parameters, of.params))


class Function(Struct, frozen=True):
    """A function by its name."""

    name: str
    overloads: tuple[Overload, ...]


_TOKEN = re.compile(r"[\w.]+|[(),]")
_MEMBER = re.compile(r"(?P<receiver>.+?)\.\((?P<arguments>.*)\) -> (?P<result>.+)")
_GLOBAL = re.compile(r"\((?P<arguments>.*)\) -> (?P<result>.+)")


def overload(identity: str, signature: str, named: dict[str, Type] | None = None) -> Overload:
    """An overload from its signature: `(string, int) -> bool`, or `list(A).(A) -> int` for a member.

    One capital letter is a parameter; other names are simple types or those of `named`.
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
        return _made(name, tuple(params), named)

    while at < len(tokens):
        yield one()
        at += 1


def _made(name: str, params: tuple[Type, ...], named: dict[str, Type]) -> Type:
    if name == "list":
        return list_of(*params)
    if name == "map":
        return map_of(*params)
    if name == "optional":
        return optional_of(*params)
    if name == "type" and params:
        return type_of(*params)
    if len(name) == 1 and name.isupper():
        return Type(Kind.PARAM, name)
    return named[name] if name in named else SIMPLE[name]
