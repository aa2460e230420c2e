"""Lists: order, sums, searching, flattening and sorting."""

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.values import (
    NONE,
    Duration,
    EvaluationError,
    Optional,
    UInt,
    checked_int,
    checked_uint,
    equal,
    kind_of,
)

_ORDERED = ("bool", "int", "uint", "double", "string", "bytes", "duration", "timestamp")
_SUMMED = ("int", "uint", "double", "duration")
_RANGE_LIMIT = 1_000_000


def _compared(one: Any, other: Any) -> int:
    if kind_of(one) != kind_of(other):
        raise EvaluationError("no such overload")
    return int(one > other) - int(one < other)


def _is_sorted(elements: Sequence[Any]) -> bool:
    return all(_compared(one, other) <= 0 for one, other in pairwise(elements))


def _summing(zero: Any) -> Callable[[Sequence[Any]], Any]:
    def add(elements: Sequence[Any]) -> Any:
        if isinstance(zero, Duration):
            return Duration(checked_int(sum(one.nanoseconds for one in elements)))
        if isinstance(zero, float):
            return float(sum(elements))
        total = sum(elements)
        return checked_uint(total) if isinstance(zero, UInt) else checked_int(total)

    return add


_ZEROS = {"int": 0, "uint": UInt(0), "double": 0.0, "duration": Duration(0)}


def _extreme(name: str, choose: Callable[..., Any]) -> Callable[[Sequence[Any]], Any]:
    def find(elements: Sequence[Any]) -> Any:
        if not elements:
            raise EvaluationError(f"{name} called on empty list")
        return choose(elements, key=cmp_to_key(_compared))

    return find


def _index_of(elements: Sequence[Any], wanted: Any) -> int:
    return next((index for index, one in enumerate(elements) if equal(one, wanted)), -1)


def _last_index_of(elements: Sequence[Any], wanted: Any) -> int:
    return max((index for index, one in enumerate(elements) if equal(one, wanted)), default=-1)


def _slice(elements: Sequence[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(elements):
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(elements)}")
    return list(elements[start:end])


def _flatten(elements: Sequence[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    flat: list[Any] = []
    for element in elements:
        if isinstance(element, list) and depth > 0:
            flat += _flatten(element, depth - 1)
        else:
            flat.append(element)
    return flat


def _sort(elements: Sequence[Any]) -> list[Any]:
    return sorted(elements, key=cmp_to_key(_compared))


def _sort_by(elements: Sequence[Any], keys: Sequence[Any]) -> list[Any]:
    key_of = cmp_to_key(_compared)
    return [elements[index] for index in sorted(range(len(elements)), key=lambda index: key_of(keys[index]))]


def _range(count: int) -> list[int]:
    if count > _RANGE_LIMIT:
        raise EvaluationError("range is too long")
    return list(range(count))


def _distinct(elements: Sequence[Any]) -> list[Any]:
    seen: list[Any] = []
    for element in elements:
        if not any(equal(element, one) for one in seen):
            seen.append(element)
    return seen


def _overloads(word: str, kinds: Sequence[str], result: str = "") -> list[tuple[str, str]]:
    return [(f"list_{kind}_{word}", f"list({kind}).() -> {result or kind}") for kind in kinds]


LIBRARY = Library(
    functions(
        {
            "isSorted": _overloads("is_sorted_bool", _ORDERED, "bool"),
            "sum": _overloads("sum", _SUMMED),
            "max": _overloads("max", _ORDERED),
            "min": _overloads("min", _ORDERED),
            "indexOf": [("list_a_index_of_int", "list(A).(A) -> int")],
            "lastIndexOf": [("list_a_last_index_of_int", "list(A).(A) -> int")],
            "slice": [("list_slice", "list(A).(int, int) -> list(A)")],
            "flatten": [
                ("list_flatten", "list(list(A)).() -> list(A)"),
                ("list_flatten_int", "list(dyn).(int) -> list(dyn)"),
            ],
            "sort": [(f"list_{kind}_sort", f"list({kind}).() -> list({kind})") for kind in _ORDERED],
            "@sortByAssociatedKeys": [
                (f"list_{kind}_sortByAssociatedKeys", f"list(A).(list({kind})) -> list(A)") for kind in _ORDERED
            ],
            "lists.range": [("lists_range", "(int) -> list(int)")],
            "reverse": [("list_reverse", "list(A).() -> list(A)")],
            "distinct": [("list_distinct", "list(A).() -> list(A)")],
            "first": [("list_first", "list(A).() -> optional(A)")],
            "last": [("list_last", "list(A).() -> optional(A)")],
        }
    ),
    {
        **{f"list_{kind}_is_sorted_bool": _is_sorted for kind in _ORDERED},
        **{f"list_{kind}_sum": _summing(_ZEROS[kind]) for kind in _SUMMED},
        **{f"list_{kind}_max": _extreme("max", max) for kind in _ORDERED},
        **{f"list_{kind}_min": _extreme("min", min) for kind in _ORDERED},
        "list_a_index_of_int": _index_of,
        "list_a_last_index_of_int": _last_index_of,
        "list_slice": _slice,
        "list_flatten": _flatten,
        "list_flatten_int": _flatten,
        **{f"list_{kind}_sort": _sort for kind in _ORDERED},
        **{f"list_{kind}_sortByAssociatedKeys": _sort_by for kind in _ORDERED},
        "lists_range": _range,
        "list_reverse": lambda elements: elements[::-1],
        "list_distinct": _distinct,
        "list_first": lambda elements: Optional(True, elements[0]) if elements else NONE,
        "list_last": lambda elements: Optional(True, elements[-1]) if elements else NONE,
    },
)
