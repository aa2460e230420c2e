"""Lists: the CEL library for lists: order, sums, search, slices, flatten, sort.

Pure. Must hold: the size of a list is paid for before it is made.
"""

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from itertools import pairwise
from typing import Any

from aio_apiserver.base.budget import Budget
from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.values import (
    BYTES_OF_A_POINTER,
    NONE,
    Budgeted,
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
_ELEMENTS_OF_A_STEP = 4
_BYTES_OF_A_NUMBER = 40


def _compared(one: Any, other: Any) -> int:
    if kind_of(one) != kind_of(other):
        raise EvaluationError("no such overload")
    return int(one > other) - int(one < other)


def _is_sorted(budget: Budget, elements: Sequence[Any]) -> bool:
    budget.spend(len(elements) // _ELEMENTS_OF_A_STEP)
    return all(_compared(one, other) <= 0 for one, other in pairwise(elements))


def _summing(zero: Any) -> Budgeted:
    def add(budget: Budget, elements: Sequence[Any]) -> Any:
        budget.spend(len(elements) // _ELEMENTS_OF_A_STEP)
        if isinstance(zero, Duration):
            return Duration(checked_int(sum(one.nanoseconds for one in elements)))
        if isinstance(zero, float):
            return float(sum(elements))
        total = sum(elements)
        return checked_uint(total) if isinstance(zero, UInt) else checked_int(total)

    return Budgeted(add)


_ZEROS = {"int": 0, "uint": UInt(0), "double": 0.0, "duration": Duration(0)}


def _extreme(name: str, choose: Callable[..., Any]) -> Budgeted:
    def find(budget: Budget, elements: Sequence[Any]) -> Any:
        budget.spend(len(elements) // _ELEMENTS_OF_A_STEP)
        if not elements:
            raise EvaluationError(f"{name} called on empty list")
        return choose(elements, key=cmp_to_key(_compared))

    return Budgeted(find)


def _index_of(budget: Budget, elements: Sequence[Any], sought: Any) -> int:
    return next((index for index, element in enumerate(elements) if equal(element, sought, budget)), -1)


def _last_index_of(budget: Budget, elements: Sequence[Any], sought: Any) -> int:
    return max((index for index, element in enumerate(elements) if equal(element, sought, budget)), default=-1)


def _slice(budget: Budget, elements: Sequence[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(elements):
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(elements)}")
    budget.make(BYTES_OF_A_POINTER * (end - start))
    return list(elements[start:end])


def _flatten(budget: Budget, elements: Sequence[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    budget.make(BYTES_OF_A_POINTER * len(elements))
    budget.spend(1 + len(elements) // _ELEMENTS_OF_A_STEP)
    flat: list[Any] = []
    for element in elements:
        if isinstance(element, list) and depth > 0:
            flat += _flatten(budget, element, depth - 1)
        else:
            flat.append(element)
    return flat


def _sort(budget: Budget, elements: Sequence[Any]) -> list[Any]:
    budget.make(BYTES_OF_A_POINTER * len(elements))
    return sorted(elements, key=cmp_to_key(_compared))


def _sort_by(budget: Budget, elements: Sequence[Any], keys: Sequence[Any]) -> list[Any]:
    budget.make(BYTES_OF_A_POINTER * len(elements))
    key_of = cmp_to_key(_compared)
    return [elements[index] for index in sorted(range(len(elements)), key=lambda index: key_of(keys[index]))]


def _range(budget: Budget, count: int) -> list[int]:
    if count > _RANGE_LIMIT:
        raise EvaluationError("range is too long")
    budget.make(_BYTES_OF_A_NUMBER * max(count, 0))
    return list(range(count))


def _reverse(budget: Budget, elements: Sequence[Any]) -> list[Any]:
    budget.make(BYTES_OF_A_POINTER * len(elements))
    return list(elements[::-1])


def _distinct(budget: Budget, elements: Sequence[Any]) -> list[Any]:
    budget.make(BYTES_OF_A_POINTER * len(elements))
    different: list[Any] = []
    for element in elements:
        if not any(equal(element, earlier, budget) for earlier in different):
            different.append(element)
    return different


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
        **{f"list_{kind}_is_sorted_bool": Budgeted(_is_sorted) for kind in _ORDERED},
        **{f"list_{kind}_sum": _summing(_ZEROS[kind]) for kind in _SUMMED},
        **{f"list_{kind}_max": _extreme("max", max) for kind in _ORDERED},
        **{f"list_{kind}_min": _extreme("min", min) for kind in _ORDERED},
        "list_a_index_of_int": Budgeted(_index_of),
        "list_a_last_index_of_int": Budgeted(_last_index_of),
        "list_slice": Budgeted(_slice),
        "list_flatten": Budgeted(_flatten),
        "list_flatten_int": Budgeted(_flatten),
        **{f"list_{kind}_sort": Budgeted(_sort) for kind in _ORDERED},
        **{f"list_{kind}_sortByAssociatedKeys": Budgeted(_sort_by) for kind in _ORDERED},
        "lists_range": Budgeted(_range),
        "list_reverse": Budgeted(_reverse),
        "list_distinct": Budgeted(_distinct),
        "list_first": lambda elements: Optional(True, elements[0]) if elements else NONE,
        "list_last": lambda elements: Optional(True, elements[-1]) if elements else NONE,
    },
)
