"""Steps: what single nodes of a tree do when they are evaluated: fields, constants, logic.

Must hold: what one side of a logical operator cannot say, the other may decide.
"""

from collections.abc import Callable, Mapping
from typing import Any

from aio_apiserver.registry.machinery.cel import overloads
from aio_apiserver.registry.machinery.cel.frames import Frame, Step
from aio_apiserver.registry.machinery.cel.values import NONE, EvaluationError, Optional


def constant(value: Any) -> Step:
    return lambda _frame: value


def field(operand: Step, name: str) -> Step:
    def select(frame: Frame) -> Any:
        value = operand(frame)
        frame.spend(1)
        if isinstance(value, dict):
            try:
                return value[name]
            except KeyError:
                raise overloads.no_such_key(name) from None
        if isinstance(value, Optional):
            return _optionally(value, name)
        raise _no_field(value, name)

    return select


def _no_field(value: Any, name: str) -> EvaluationError:
    return overloads.no_such_index("string") if isinstance(value, list) else overloads.no_such_key(name)


def field_test(operand: Step, name: str) -> Step:
    def test(frame: Frame) -> bool:
        value = operand(frame)
        if isinstance(value, Optional):
            value = value.value if value.has_value else {}
        if isinstance(value, list):
            raise overloads.no_such_index("string")
        return isinstance(value, dict) and name in value

    return test


def optional_field(operand: Step, name: str) -> Step:
    def select(frame: Frame) -> Optional:
        value = operand(frame)
        frame.spend(1)
        return _optionally(value if isinstance(value, Optional) else Optional(True, value), name)

    return select


def _optionally(value: Optional, name: str) -> Optional:
    if not value.has_value:
        return NONE
    if isinstance(value.value, list):
        raise overloads.no_such_index("string")
    is_there = isinstance(value.value, dict) and name in value.value
    return Optional(True, value.value[name]) if is_there else NONE


def _or_optional(left: Step, right: Step) -> Step:
    return _otherwise(left, right, lambda found: found)


def _or_value(left: Step, right: Step) -> Step:
    return _otherwise(left, right, lambda found: found.value)


def _otherwise(left: Step, right: Step, kept: Callable[[Optional], Any]) -> Step:
    """The other side is asked only if the first one has nothing; what may not be missing is there."""

    def choose(frame: Frame) -> Any:
        found = left(frame)
        if not isinstance(found, Optional):
            return found
        return kept(found) if found.has_value else right(frame)

    return choose


OTHERWISE: Mapping[str, Callable[[Step, Step], Step]] = {
    "optional_or_optional": _or_optional,
    "optional_orValue_value": _or_value,
}
"""By overload."""


# Logic: what one side cannot say, the other may decide.


def _or(left: Step, right: Step) -> Step:
    return _logic(left, right, decisive=True)


def _and(left: Step, right: Step) -> Step:
    return _logic(left, right, decisive=False)


def _logic(left: Step, right: Step, *, decisive: bool) -> Step:
    def logic(frame: Frame) -> bool:
        failure: EvaluationError | None = None
        for side in (left, right):
            try:
                value = side(frame)
            except EvaluationError as exc:
                failure = failure or exc
                continue
            if not isinstance(value, bool):
                failure = failure or EvaluationError("no such overload")
            elif value is decisive:
                return value
        if failure is not None:
            raise failure
        return not decisive

    return logic


def _not(operand: Step) -> Step:
    def negate(frame: Frame) -> bool:
        value = operand(frame)
        frame.spend(1)
        if not isinstance(value, bool):
            raise overloads.missing("!_", [value])
        return not value

    return negate


def _not_strictly_false(operand: Step) -> Step:
    def test(frame: Frame) -> bool:
        try:
            value = operand(frame)
        except EvaluationError:
            value = True
        frame.spend(1)
        return value is not False

    return test


def _conditional(condition: Step, then: Step, otherwise: Step) -> Step:
    def choose(frame: Frame) -> Any:
        value = condition(frame)
        if not isinstance(value, bool):
            raise EvaluationError("no such overload")
        return then(frame) if value else otherwise(frame)

    return choose


OPERATORS: Mapping[str, Callable[..., Step]] = {
    "_||_": _or,
    "_&&_": _and,
    "!_": _not,
    "@not_strictly_false": _not_strictly_false,
    "_?_:_": _conditional,
}
