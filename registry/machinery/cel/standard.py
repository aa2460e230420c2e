"""Standard: the implementations of CEL's standard operators and functions, by overload.

Pure. Errors have cel-go's words. Must hold: a function pays the budget of the evaluation before it makes a text, a
list or a map. It also pays before it walks through its arguments (Budgeted).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from aio_apiserver.base.budget import Budget
from aio_apiserver.registry.base.golang.text import float_text, value_text
from aio_apiserver.registry.machinery.cel import missing_overloads, times
from aio_apiserver.registry.machinery.cel.declarations import STANDARD
from aio_apiserver.registry.machinery.cel.types import Overload, TypeKind
from aio_apiserver.registry.machinery.cel.values import (
    BYTES_OF_A_POINTER,
    BYTES_OF_AN_ENTRY,
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    NONE,
    SECOND,
    Budgeted,
    Duration,
    EvaluationError,
    Gathered,
    GatheredMap,
    Opaque,
    Optional,
    Timestamp,
    TypeName,
    UInt,
    UnorderedList,
    checked_int,
    checked_uint,
    equal,
    kind_of,
    whole_number,
)
from aio_apiserver.registry.machinery.schema.validation import patterns
from aio_apiserver.registry.machinery.schema.validation.patterns import Pattern

Implementations = Mapping[str, Callable[..., Any] | Budgeted]
"""By the id of the overload."""

_BY_KIND = {
    TypeKind.TIMESTAMP: "google.protobuf.Timestamp",
    TypeKind.DURATION: "google.protobuf.Duration",
    TypeKind.NULL: "null_type",
}


def kinds_of(overload: Overload) -> Sequence[str]:
    """The types that the arguments of an overload must have at run time."""
    return [
        "any" if one.kind in (TypeKind.PARAM, TypeKind.DYN) else _BY_KIND.get(one.kind, one.name)
        for one in overload.arguments
    ]


def pattern(text: str, budget: Budget) -> Pattern:
    """A compiled regular expression. Raises EvaluationError, BudgetExceeded."""
    try:
        return patterns.compiled(text, budget)
    except ValueError as exc:
        raise EvaluationError(str(exc)) from exc


def _matches(budget: Budget, text: str, regex: str) -> bool:
    compiled = pattern(regex, budget)
    compiled.pay(len(text), budget)
    return compiled.regex.search(text) is not None


def _divide(one: int, other: int) -> int:
    if other == 0:
        raise EvaluationError("division by zero")
    quotient = abs(one) // abs(other)
    return checked_int(quotient if (one < 0) == (other < 0) else -quotient)


def _modulo(one: int, other: int) -> int:
    if other == 0:
        raise EvaluationError("modulus by zero")
    return int(math.fmod(one, other)) if abs(one) < 2**53 > abs(other) else one - other * _divide(one, other)


def _divide_floats(one: float, other: float) -> float:
    if other:
        return one / other
    if not one or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1.0, other)


def _divide_unsigned(one: UInt, other: UInt) -> UInt:
    if other == 0:
        raise EvaluationError("division by zero")
    return UInt(one // other)


def _modulo_unsigned(one: UInt, other: UInt) -> UInt:
    if other == 0:
        raise EvaluationError("modulus by zero")
    return UInt(one % other)


def _joined(budget: Budget, one: Any, other: Any) -> Any:
    budget.make(len(one) + len(other))
    return one + other


def _concatenated(budget: Budget, one: list[Any], other: list[Any]) -> list[Any]:
    budget.make(BYTES_OF_A_POINTER * len(other))
    if type(one) is Gathered:
        one.extend(other)
        return one
    budget.make(BYTES_OF_A_POINTER * len(one))
    if not isinstance(one, UnorderedList):
        return [*one, *other]
    budget.spend(len(one) + len(other))
    return one.added(other)


def _at(elements: list[Any], index: Any) -> Any:
    if isinstance(index, float) and index.is_integer():
        index = int(index)
    if isinstance(index, bool) or not isinstance(index, int):
        raise missing_overloads.no_such_index(kind_of(index))
    if not 0 <= index < len(elements):
        raise EvaluationError(f"index out of bounds: {index}")
    return elements[index]


def _member(entries: dict[Any, Any], key: Any) -> Any:
    for known in _keys_like(key):
        if known in entries:
            return entries[known]
    raise missing_overloads.no_such_key(key)


def _keys_like(key: Any) -> Sequence[Any]:
    if isinstance(key, float) and not key.is_integer():
        return ()
    return (key,)


def _in_list(budget: Budget, element: Any, elements: list[Any]) -> bool:
    return any(equal(element, one, budget) for one in elements)


def _in_map(key: Any, entries: dict[Any, Any]) -> bool:
    return key in entries


def _optional_at(elements: Any, index: Any) -> Optional:
    if isinstance(elements, Optional):
        if not elements.has_value:
            return NONE
        elements = elements.value
    if not isinstance(elements, (dict, list)):
        return NONE
    try:
        return Optional(True, _member(elements, index) if isinstance(elements, dict) else _at(elements, index))
    except EvaluationError:
        return NONE


def _value(optional: Optional) -> Any:
    if not optional.has_value:
        raise EvaluationError("optional.none() dereference")
    return optional.value


def _non_zero(value: Any) -> Optional:
    is_zero = value is None or (not isinstance(value, (Timestamp, Optional)) and not value)
    if isinstance(value, Duration):
        is_zero = value.nanoseconds == 0
    if isinstance(value, Timestamp):
        is_zero = value.nanoseconds == times.MIN_SECONDS * SECOND
    return NONE if is_zero else Optional(True, value)


# Conversions


def _no_conversion(kind: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from 'string' to '{kind}'")


def _int_of_double(value: float) -> int:
    if not math.isfinite(value) or value <= MIN_INT or value >= MAX_INT:
        raise EvaluationError("integer overflow")
    return int(value)


def _int_of_text(text: str) -> int:
    negative = text.startswith("-")
    number = whole_number(text[1:] if text[:1] in ("+", "-") else text)
    if number is None or number > MAX_INT + negative:
        raise _no_conversion("int")
    return -number if negative else number


def _uint_of_text(text: str) -> UInt:
    number = whole_number(text)
    if number is None or number > MAX_UINT:
        raise _no_conversion("uint")
    return UInt(number)


def _uint_of_double(value: float) -> UInt:
    if not math.isfinite(value) or value < 0 or value >= MAX_UINT:
        raise EvaluationError("unsigned integer overflow")
    return UInt(int(value))


def _double_of_text(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise _no_conversion("double") from None
    if math.isinf(number) and any(map(str.isdigit, text)):
        raise _no_conversion("double")
    return number


_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


def _bool_of_text(text: str) -> bool:
    if text not in _BOOLEANS:
        raise _no_conversion("bool")
    return _BOOLEANS[text]


def _bytes_of_text(budget: Budget, text: str) -> bytes:
    budget.make(len(text))
    return text.encode()


def _text_of_bytes(budget: Budget, value: bytes) -> str:
    budget.make(len(value))
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


def _timestamp_of_text(text: str) -> Timestamp:
    moment = times.parse_timestamp(text)
    if moment is None:
        raise _no_conversion("google.protobuf.Timestamp")
    return moment


def _duration_of_text(text: str) -> Duration:
    length = times.parse_duration(text)
    if length is None:
        raise _no_conversion("google.protobuf.Duration")
    return length


def _inserted(budget: Budget, entries: dict[Any, Any], *more: Any) -> dict[Any, Any]:
    added = more[0] if len(more) == 1 else {more[0]: more[1]}
    budget.make(BYTES_OF_AN_ENTRY * len(added))
    for key in added:
        if key in entries:
            raise EvaluationError(f"insert failed: key {value_text(key)} already exists")
    if type(entries) is GatheredMap:
        entries.update(added)
        return entries
    budget.make(BYTES_OF_AN_ENTRY * len(entries))
    return {**entries, **added}


def _equals(budget: Budget, one: Any, other: Any) -> bool:
    """Values of an opaque type are equal to values of the same type, and cannot be compared with others."""
    if isinstance(one, Opaque) and kind_of(one) != kind_of(other):
        raise EvaluationError("no such overload")
    return equal(one, other, budget)


def _less(one: Any, other: Any) -> bool:
    return bool(one < other)


def _comparisons() -> dict[str, Callable[..., Any]]:
    tests: Mapping[str, Callable[[Any, Any], bool]] = {
        "_<_": _less,
        "_<=_": lambda one, other: bool(one <= other),
        "_>_": lambda one, other: bool(one > other),
        "_>=_": lambda one, other: bool(one >= other),
    }
    return {one.id: test for name, test in tests.items() for one in STANDARD[name].overloads}


def _parts() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    for function in STANDARD.values():
        for one in function.overloads:
            name = function.name.removeprefix("get")
            if one.id.startswith("timestamp_to_") and function.name.startswith("get"):
                found[one.id] = times.part_of_timestamp(name)
            elif one.id.startswith("duration_to_") and function.name.startswith("get"):
                found[one.id] = times.part_of_duration(name)
    return found


def _nanoseconds(combine: Callable[[int, int], int], made: Callable[[int], Any]) -> Callable[[Any, Any], Any]:
    return lambda one, other: made(combine(one.nanoseconds, other.nanoseconds))


def _moved(moment: Timestamp, by: int) -> Timestamp:
    return times.checked(Timestamp(moment.nanoseconds + by, moment.offset))


def _moment(nanoseconds: int) -> Timestamp:
    return times.checked(Timestamp(nanoseconds))


def _length(nanoseconds: int) -> Duration:
    return times.checked_duration(Duration(nanoseconds))


_sum: Callable[[int, int], int] = int.__add__
_difference: Callable[[int, int], int] = int.__sub__


def _same(value: Any) -> Any:
    return value


IMPLEMENTATIONS: Implementations = {
    "equals": Budgeted(_equals),
    "not_equals": Budgeted(lambda budget, one, other: not equal(one, other, budget)),
    **_comparisons(),
    "add_bytes": Budgeted(_joined),
    "add_double": lambda one, other: one + other,
    "add_duration_duration": _nanoseconds(_sum, _length),
    "add_duration_timestamp": lambda length, moment: _moved(moment, length.nanoseconds),
    "add_timestamp_duration": lambda moment, length: _moved(moment, length.nanoseconds),
    "add_int64": lambda one, other: checked_int(one + other),
    "add_list": Budgeted(_concatenated),
    "add_string": Budgeted(_joined),
    "add_uint64": lambda one, other: checked_uint(one + other),
    "subtract_double": lambda one, other: one - other,
    "subtract_duration_duration": _nanoseconds(_difference, _length),
    "subtract_int64": lambda one, other: checked_int(one - other),
    "subtract_timestamp_duration": lambda moment, length: _moved(moment, -length.nanoseconds),
    "subtract_timestamp_timestamp": _nanoseconds(_difference, _length),
    "subtract_uint64": lambda one, other: checked_uint(int(one) - int(other)),
    "multiply_double": lambda one, other: one * other,
    "multiply_int64": lambda one, other: checked_int(one * other),
    "multiply_uint64": lambda one, other: checked_uint(one * other),
    "divide_double": _divide_floats,
    "divide_int64": _divide,
    "divide_uint64": _divide_unsigned,
    "modulo_int64": _modulo,
    "modulo_uint64": _modulo_unsigned,
    "negate_double": lambda value: -value,
    "negate_int64": lambda value: checked_int(-value),
    "index_list": _at,
    "index_map": _member,
    "optional_list_index_int": _optional_at,
    "optional_map_index_value": _optional_at,
    "in_list": Budgeted(_in_list),
    "in_map": _in_map,
    **{one.id: len for one in STANDARD["size"].overloads},
    "type": lambda value: TypeName(kind_of(value)),
    "to_dyn": _same,
    **dict.fromkeys(
        (
            "bool_to_bool",
            "bytes_to_bytes",
            "double_to_double",
            "int_to_int64",
            "uint_to_uint64",
            "string_to_string",
            "timestamp_to_timestamp",
            "duration_to_duration",
        ),
        _same,
    ),
    "string_to_bool": _bool_of_text,
    "string_to_bytes": Budgeted(_bytes_of_text),
    "int_to_double": float,
    "uint_to_double": float,
    "string_to_double": _double_of_text,
    "double_to_int64": _int_of_double,
    "duration_to_int64": lambda value: value.nanoseconds,
    "string_to_int64": _int_of_text,
    "timestamp_to_int64": lambda value: value.nanoseconds // SECOND,
    "uint_to_int64": lambda value: checked_int(int(value)),
    "double_to_uint64": _uint_of_double,
    "int_to_uint64": checked_uint,
    "string_to_uint64": _uint_of_text,
    "bool_to_string": lambda value: "true" if value else "false",
    "bytes_to_string": Budgeted(_text_of_bytes),
    "double_to_string": float_text,
    "duration_to_string": times.duration_text,
    "int_to_string": str,
    "timestamp_to_string": times.timestamp_text,
    "uint_to_string": lambda value: str(int(value)),
    "int_to_timestamp": lambda value: _moment(value * SECOND),
    "string_to_timestamp": _timestamp_of_text,
    "int_to_duration": _length,
    "string_to_duration": _duration_of_text,
    "contains_string": lambda text, part: part in text,
    "ends_with_string": str.endswith,
    "starts_with_string": str.startswith,
    "matches": Budgeted(_matches),
    "matches_string": Budgeted(_matches),
    **_parts(),
    "optional_of": lambda value: Optional(True, value),
    "optional_ofNonZeroValue": _non_zero,
    "optional_none": lambda: NONE,
    "optional_value": _value,
    "optional_hasValue": lambda optional: optional.has_value,
    "list_optindex_optional_int": _optional_at,
    "optional_list_optindex_optional_int": _optional_at,
    "map_optindex_optional_value": _optional_at,
    "optional_map_optindex_optional_value": _optional_at,
    "@mapInsert_map_key_value": Budgeted(_inserted),
    "@mapInsert_map_map": Budgeted(_inserted),
}
