"""Values: the CEL values that Python lacks (uint, timestamp, duration, optional, opaque types) and CEL's equality.

Pure. Must hold: values do not change. Numbers are equal when their values are equal; all other values must also have
the same type.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from msgspec import Struct

from aio_apiserver.base.budget import Budget

MAX_INT, MIN_INT, MAX_UINT = 2**63 - 1, -(2**63), 2**64 - 1
SECOND = 10**9
"""In nanoseconds."""


BYTES_OF_A_POINTER, BYTES_OF_A_TEXT, BYTES_OF_AN_ENTRY = 8, 56, 100
"""What an element of a list takes, what a text takes besides its characters, and an entry of a map."""
_MOST_DIGITS = 20


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


class Budgeted(Struct, frozen=True):
    """The implementation of a function that gets the budget of the evaluation before its arguments."""

    work: Callable[..., Any]


class Gathered(list[Any]):
    """The accumulator of `map` and `filter`, to which elements are added in place: no expression sees it."""


class GatheredMap(dict[Any, Any]):
    """The accumulator of `transformMap`, to which entries are added in place: no expression sees it."""


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
    Gathered: "list",
    dict: "map",
    GatheredMap: "map",
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


def equal(one: Any, other: Any, budget: Budget) -> bool:
    """Whether two values are equal in CEL. Lists and maps pay for their members."""
    kind, other_kind = type(one), type(other)
    if kind in _NUMBERS and other_kind in _NUMBERS:
        return bool(one == other)
    if isinstance(one, list) and isinstance(other, list):
        return _equal_lists(one, other, budget)
    if isinstance(one, dict) and isinstance(other, dict):
        budget.spend(1 + len(one) // _MEMBERS_OF_A_STEP)
        return len(one) == len(other) and all(
            name in other and equal(value, other[name], budget) for name, value in one.items()
        )
    if kind is Optional and other_kind is Optional:
        return one.has_value is other.has_value and equal(one.value, other.value, budget)
    return kind is other_kind and bool(one == other)


_MEMBERS_OF_A_STEP = 4


def _equal_lists(one: list[Any], other: list[Any], budget: Budget) -> bool:
    if len(one) != len(other):
        return False
    budget.spend(1 + len(one) // _MEMBERS_OF_A_STEP)
    if isinstance(one, UnorderedList):
        return _equal_in_any_order(one, other, budget)
    return all(equal(element, another, budget) for element, another in zip(one, other, strict=True))


def _equal_in_any_order(one: list[Any], other: list[Any], budget: Budget) -> bool:
    """Whether the elements correspond. Those that are the same as JSON correspond at once."""
    alike: dict[bytes, list[Any]] = {}
    for element in other:
        alike.setdefault(identity(element), []).append(element)
    unmatched = [element for element in one if not _pop(alike.get(identity(element)))]
    left = [element for elements in alike.values() for element in elements]
    return all(_take(left, element, budget) for element in unmatched)


def _pop(elements: list[Any] | None) -> bool:
    """Remove an element, if there is one; returns whether there was."""
    return bool(elements and (elements.pop(), True))


def _take(elements: list[Any], sought: Any, budget: Budget) -> bool:
    budget.spend(len(elements))
    for index, element in enumerate(elements):
        if equal(element, sought, budget):
            del elements[index]
            return True
    return False


def identity(value: Any) -> bytes:
    """A value as JSON, by which elements of lists are the same."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=repr)


def whole_number(digits: str) -> int | None:
    """The number in a text of digits; None for other text, and for more than 64 bits hold."""
    if not (digits.isascii() and digits.isdigit()):
        return None
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) <= _MOST_DIGITS else None


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
