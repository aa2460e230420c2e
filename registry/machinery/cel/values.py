"""Values: the CEL values that Python lacks (uint, timestamp, duration, optional, opaque types) and CEL's equality.

Pure. Must hold: values do not change. Numbers are equal when their values are equal; all other values must also have
the same type.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

MAX_INT, MIN_INT, MAX_UINT = 2**63 - 1, -(2**63), 2**64 - 1
SECOND = 10**9
"""In nanoseconds."""


class EvaluationError(Exception):
    """A value could not be computed. `||` and `&&` may still decide. cost: what the whole evaluation has cost."""

    cost = 0


class CostExceeded(Exception):
    """The evaluation exceeded its cost limit."""


class UInt(int):
    """An unsigned integer."""


class Timestamp(Struct, frozen=True, eq=False):
    """Nanoseconds since 1970 in UTC. The offset in seconds changes how it is printed, not its value."""

    nanoseconds: int
    offset: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self.nanoseconds == other.nanoseconds

    def __hash__(self) -> int:
        return hash(self.nanoseconds)

    def __lt__(self, other: "Timestamp") -> bool:
        return self.nanoseconds < other.nanoseconds

    def __le__(self, other: "Timestamp") -> bool:
        return self.nanoseconds <= other.nanoseconds

    def __gt__(self, other: "Timestamp") -> bool:
        return self.nanoseconds > other.nanoseconds

    def __ge__(self, other: "Timestamp") -> bool:
        return self.nanoseconds >= other.nanoseconds


class Duration(Struct, frozen=True, order=True):
    """A duration in nanoseconds."""

    nanoseconds: int


class Optional(Struct, frozen=True):
    """CEL's optional value."""

    has_value: bool
    value: Any = None


NONE = Optional(False)


class TypeName(Struct, frozen=True):
    """A type as a value."""

    name: str


class Opaque:
    """Base of values with a CEL type of their own: quantity, IP address, authorizer. Each class defines its equality.

    type_name: the name of the CEL type.
    """

    type_name = ""


class UnorderedList(list[Any]):
    """A list whose order does not count (x-kubernetes-list-type: set or map).

    Two of them are equal when they have the same elements. `key_of` identifies an element when lists are added.
    """

    def __init__(self, elements: Sequence[Any], key_of: Callable[[Any], Any]) -> None:
        super().__init__(elements)
        self.key_of = key_of

    def added(self, others: Sequence[Any]) -> "UnorderedList":
        """Both lists; an element of `others` replaces the element with the same key."""
        merged = {self.key_of(element): element for element in self}
        merged |= {self.key_of(element): element for element in others}
        return UnorderedList(list(merged.values()), self.key_of)


Kinds = Mapping[type, str]

KINDS: Kinds = {
    bool: "bool",
    int: "int",
    UInt: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    UnorderedList: "list",
    dict: "map",
    type(None): "null_type",
    Timestamp: "google.protobuf.Timestamp",
    Duration: "google.protobuf.Duration",
    Optional: "optional_type",
    TypeName: "type",
}


def kind_of(value: Any) -> str:
    """The name of a value's CEL type."""
    found = KINDS.get(type(value))
    if found is not None:
        return found
    name: str = getattr(value, "type_name", "")
    return name or ("map" if isinstance(value, dict) else type(value).__name__)


_NUMBERS = frozenset({int, UInt, float})


def equal(one: Any, other: Any) -> bool:
    """Whether two values are equal in CEL."""
    kind, other_kind = type(one), type(other)
    if kind in _NUMBERS and other_kind in _NUMBERS:
        return bool(one == other)
    if isinstance(one, list) and isinstance(other, list):
        return _equal_lists(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return len(one) == len(other) and all(
            name in other and equal(value, other[name]) for name, value in one.items()
        )
    if kind is Optional and other_kind is Optional:
        return one.has_value is other.has_value and equal(one.value, other.value)
    return kind is other_kind and bool(one == other)


def _equal_lists(one: list[Any], other: list[Any]) -> bool:
    if len(one) != len(other):
        return False
    if isinstance(one, UnorderedList):
        left = list(other)
        return all(_take(left, element) for element in one)
    return all(map(equal, one, other))


def _take(elements: list[Any], wanted: Any) -> bool:
    for index, element in enumerate(elements):
        if equal(element, wanted):
            del elements[index]
            return True
    return False


def checked_int(value: int) -> int:
    """The number, if it fits into an int. Raises EvaluationError."""
    if not MIN_INT <= value <= MAX_INT:
        raise EvaluationError("integer overflow")
    return value


def checked_uint(value: int) -> UInt:
    """The number, if it fits into a uint. Raises EvaluationError."""
    if not 0 <= value <= MAX_UINT:
        raise EvaluationError("unsigned integer overflow")
    return UInt(value)


def size_of(value: Any) -> int:
    """The size of a value for costs: characters, bytes or members; 1 for scalars."""
    if isinstance(value, (str, bytes, list, dict)):
        return len(value)
    if isinstance(value, Optional) and value.has_value:
        return size_of(value.value)
    size: int = getattr(value, "size", 1)
    return size


def share(size: int, factor: float) -> int:
    """A share of a size, rounded up."""
    return math.ceil(size * factor)
