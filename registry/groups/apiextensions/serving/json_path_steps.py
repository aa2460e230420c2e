"""JSON path steps: each step of a JSONPath maps values to values, as client-go's jsonpath does.

Pure. Must hold: a step pays for the values that it visits before it visits them; `run` pays for those it begins with.
A missing member is no error. A list index out of bounds, and a value of another type, are errors as in client-go.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

from msgspec import Struct

from aio_apiserver.base.budget import Budget

Values = Sequence[Any]
Step = Callable[[Values, Budget], Values]

_COMPARISON_STEPS = 3
"""To compare an element of a list takes about as long as three visits."""


class Unevaluable(Exception):
    """A path cannot be evaluated with a value. kube-apiserver leaves such a cell empty."""


def run(steps: Sequence[Step], values: Values, budget: Budget) -> Values:
    """The values after all steps. Raises Unevaluable, BudgetExceeded."""
    for step in steps:
        budget.spend(1 + len(values))
        values = step(values, budget)
    return values


def member(name: str) -> Step:
    """The member of each map that has it."""

    def step(values: Values, _budget: Budget) -> Values:
        return [value[name] for value in values if isinstance(value, dict) and name in value]

    return step


def text(literal: str) -> Step:
    """A quoted text, whatever the values are."""
    return lambda _values, _budget: [literal]


def constant(literal: bool | float) -> Step:
    """A number or a boolean in the place of each value."""
    return lambda values, _budget: [literal] * len(values)


def unrecognized(identifier: str) -> Step:
    """A word without a dot before it."""

    def step(_values: Values, _budget: Budget) -> Values:
        raise Unevaluable(f"unrecognized identifier {identifier}")

    return step


def children(values: Values, budget: Budget) -> Values:
    """The members of all maps and the elements of all lists."""
    return list(chain.from_iterable(_children(value, budget) for value in values))


def descendants(values: Values, budget: Budget) -> Values:
    """The values and all values inside of them, outer ones first, without scalars and empty containers."""
    kept: list[Any] = []
    waiting = list(reversed(values))
    while waiting:
        value = waiting.pop()
        if value and isinstance(value, dict | list | str):
            kept.append(value)
            waiting.extend(reversed(_children(value, budget)))
    return kept


def _children(value: Any, budget: Budget) -> Values:
    """The values in a map, in the order of their names, or in a list."""
    if not isinstance(value, dict | list):
        return ()
    budget.spend(len(value))
    return [value[name] for name in sorted(value)] if isinstance(value, dict) else value


def union(alternatives: Sequence[Sequence[Step]]) -> Step:
    """The values of several paths, one after the other."""

    def step(values: Values, budget: Budget) -> Values:
        united: list[Any] = []
        for steps in alternatives:
            more = run(steps, values, budget)
            budget.spend(len(more))
            united += more
        return united

    return step


class ElementRange(Struct, frozen=True):
    """A range of list elements, as written: a bound that is None was left out. `index`: one element, `[3]`."""

    start: int | None
    stop: int | None
    stride: int | None
    index: bool = False

    def of(self, size: int) -> range | None:
        """The indexes in a list of this size; None for an empty range. Raises Unevaluable."""
        start, stop = self.start or 0, size if self.stop is None else self.stop
        start += size if start < 0 else 0
        stop += size if stop < 0 or (stop == 0 and self.index) else 0
        if start == stop:
            return None
        if not 0 <= start < size:
            raise Unevaluable(f"array index out of bounds: index {start}, length {size}")
        if not 0 <= stop <= size:
            raise Unevaluable(f"array index out of bounds: index {stop - 1}, length {size}")
        if start > stop:
            raise Unevaluable(f"starting index {start} is greater than ending index {stop}")
        if self.stride is not None and self.stride <= 0:
            raise Unevaluable("step must be > 0")
        return range(start, stop, self.stride or 1)


def elements(chosen: ElementRange) -> Step:
    """A range of the elements of each list. An empty range ends the step, as in client-go."""

    def step(values: Values, budget: Budget) -> Values:
        picked: list[Any] = []
        for value in values:
            if value is None:
                continue
            indexes = chosen.of(len(_list(value)))
            if indexes is None:
                break
            budget.spend(len(indexes))
            picked += map(value.__getitem__, indexes)
        return picked

    return step


def existing(path: Sequence[Step]) -> Step:
    """The elements of lists in which a path leads to a value."""

    def fits(element: Any, budget: Budget) -> bool:
        try:
            return bool(run(path, (element,), budget))
        except Unevaluable:
            return True  # client-go ignores the error, and sees the values that the path had reached

    return _filter(fits)


def compared(left: Sequence[Step], operator: str, right: Sequence[Step]) -> Step:
    """The elements of lists in which two paths lead to values that compare as the operator says."""

    def fits(element: Any, budget: Budget) -> bool:
        lefts = _at_most_one(run(left, (element,), budget))
        rights = _at_most_one(run(right, (element,), budget)) if lefts else ()
        if not lefts or not rights:
            return False
        if operator not in _COMPARISONS:
            raise Unevaluable(f"unrecognized filter operator {operator}")
        return _COMPARISONS[operator](lefts[0], rights[0])

    return _filter(fits)


def _filter(fits: Callable[[Any, Budget], bool]) -> Step:
    def step(values: Values, budget: Budget) -> Values:
        picked: list[Any] = []
        for value in values:
            budget.spend(_COMPARISON_STEPS * len(_list(value)))
            picked += [element for element in value if fits(element, budget)]
        return picked

    return step


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise Unevaluable("it is not an array or a slice")
    return value


def _at_most_one(values: Values) -> Values:
    if len(values) > 1:
        raise Unevaluable("can only compare one element at a time")
    return values


def _equal(one: Any, other: Any) -> bool:
    if type(one) is not type(other) or not isinstance(one, str | int | float):
        raise Unevaluable("incompatible types for comparison")
    return bool(one == other)


def _less(one: Any, other: Any) -> bool:
    if type(one) is not type(other) or not isinstance(one, str | int | float) or isinstance(one, bool):
        raise Unevaluable("incompatible types for comparison")
    return bool(one < other)


_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": _equal,
    "!=": lambda one, other: not _equal(one, other),
    "<": _less,
    "<=": lambda one, other: _less(one, other) or _equal(one, other),
    ">": lambda one, other: not _less(one, other) and not _equal(one, other),
    ">=": lambda one, other: not _less(one, other),
}
