"""Program: cel-go's planner and interpreter: turns a checked CEL tree into Python functions that count their cost.

Must hold: the costs are kube-apiserver's. A call pays its cost before it computes, unless the cost is that of its
result. An evaluation ends with a value, an EvaluationError or CostExceeded, for any variables. A program keeps no state
between evaluations.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from aio_apiserver.registry.base.golang.text import value_text
from aio_apiserver.registry.machinery.cel import costs
from aio_apiserver.registry.machinery.cel import missing_overloads as overloads
from aio_apiserver.registry.machinery.cel.checker import OPTIONAL_SELECT, Checked
from aio_apiserver.registry.machinery.cel.costs import LIST_COST, MAP_COST, OBJECT_COST
from aio_apiserver.registry.machinery.cel.frames import Frame, Step
from aio_apiserver.registry.machinery.cel.steps import OPERATORS, OTHERWISE, constant, field, field_test, optional_field
from aio_apiserver.registry.machinery.cel.syntax import (
    Comprehension,
    Constant,
    EntryExpr,
    Expr,
    FunctionCall,
    Ident,
    ListLiteral,
    MapLiteral,
    ObjectLiteral,
    Select,
)
from aio_apiserver.registry.machinery.cel.values import (
    Budgeted,
    EvaluationError,
    Gathered,
    GatheredMap,
    TypeName,
    UInt,
    kind_of,
)

_OPTIONAL_INDEX = "_[?_]"
"""The optional index returns none for values without elements."""

Implementation = Callable[..., Any] | Budgeted
"""The implementation of an overload. The types of its arguments are checked before the call."""


class Dispatch:
    """The implementations of overloads, chosen by the types of the arguments."""

    def __init__(self, overloads: Mapping[str, tuple[Sequence[str], Implementation]]) -> None:
        self._overloads = overloads

    def chosen(self, name: str, identities: Sequence[str]) -> Callable[[list[Any]], tuple[str, Implementation]]:
        """A function that finds the implementation for the arguments of a call."""
        known = [(identity, *self._overloads[identity]) for identity in identities if identity in self._overloads]

        def find(arguments: list[Any]) -> tuple[str, Implementation]:
            for identity, kinds, implementation in known:
                if len(kinds) == len(arguments) and all(map(_fits, kinds, arguments)):
                    return identity, implementation
            if name == _OPTIONAL_INDEX:
                return known[0][0], known[0][2]
            raise overloads.missing(name, arguments)

        return find


def _fits(kind: str, value: Any) -> bool:
    return kind == "any" or kind_of(value) == kind


class ProgramCompiler:
    """Turns the nodes of one tree into steps."""

    def __init__(self, checked: Checked, dispatch: Dispatch) -> None:
        self._checked = checked
        self._dispatch = dispatch

    def compiled(self, node: Expr) -> Step:
        """The step that computes a node."""
        match node:
            case Constant():
                return constant(UInt(node.value) if node.is_unsigned else node.value)
            case Ident():
                return self._ident(node.name)
            case Select():
                return self._select(node)
            case FunctionCall():
                return self._call(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case ObjectLiteral():
                return self._object(node)
            case Comprehension():
                return self._comprehension(node)
        raise AssertionError(node)

    def _ident(self, name: str) -> Step:
        name = name.removeprefix(".")

        def ident(frame: Frame) -> Any:
            frame.spend(1)
            try:
                value = frame.variables[name]
            except KeyError:
                return TypeName(_TYPE_VALUES.get(name, name))
            return value.raise_again() if isinstance(value, StepFailure) else value

        return ident

    # Fields

    def _select(self, node: Select) -> Step:
        if node.id in self._checked.names:
            return self._ident(self._checked.names[node.id])
        operand = self.compiled(node.operand)
        name = self._checked.escaped.get(node.id, node.field)
        return field_test(operand, name) if node.is_test else field(operand, name)

    # Calls

    def _call(self, node: FunctionCall) -> Step:
        special = OPERATORS.get(node.function)
        if special is not None:
            return special(*map(self.compiled, node.arguments))
        if node.function == OPTIONAL_SELECT:
            operand, field = node.arguments
            assert isinstance(field, Constant)
            return optional_field(self.compiled(operand), self._checked.escaped.get(node.id, field.value))
        otherwise = OTHERWISE.get(self._checked.overloads[node.id][0])
        if otherwise is not None and node.target is not None:
            return otherwise(self.compiled(node.target), self.compiled(node.arguments[0]))
        name = self._checked.names.get(node.id, node.function)
        is_member = node.target is not None and node.id not in self._checked.names
        nodes = [node.target, *node.arguments] if is_member else list(node.arguments)
        return self._function(name, self._checked.overloads[node.id], [self.compiled(one) for one in nodes if one])

    def _function(self, name: str, overloads: Sequence[str], steps: Sequence[Step]) -> Step:
        find = self._dispatch.chosen(name, overloads)
        cost_of = costs.cost_of_call(name)
        needs_result = cost_of in costs.OF_RESULT

        def call(frame: Frame) -> Any:
            arguments = [step(frame) for step in steps]
            identity, implementation = find(arguments)
            if not needs_result:
                frame.spend(cost_of(identity, arguments, None))
                return _computed(implementation, arguments, frame)
            try:
                value = _computed(implementation, arguments, frame)
            except EvaluationError:
                frame.spend(cost_of(identity, arguments, None))
                raise
            frame.spend(cost_of(identity, arguments, value))
            return value

        return call

    # Literals of lists, maps and objects

    def _list(self, node: ListLiteral) -> Step:
        steps = [(self.compiled(one), index in node.optional) for index, one in enumerate(node.elements)]

        def make(frame: Frame) -> list[Any]:
            made = []
            for step, is_optional in steps:
                value = step(frame)
                if not is_optional:
                    made.append(value)
                elif value.has_value:
                    made.append(value.value)
            frame.spend(LIST_COST)
            return made

        return make

    def _map(self, node: MapLiteral) -> Step:
        steps = [
            (self.compiled(entry.key), *self._value(entry)) for entry in node.entries if isinstance(entry.key, Expr)
        ]

        def make(frame: Frame) -> dict[Any, Any]:
            made: dict[Any, Any] = {}
            for key_step, value_step, is_optional in steps:
                key, value = key_step(frame), value_step(frame)
                if is_optional and not value.has_value:
                    continue
                if key in made:
                    raise EvaluationError(f"failed with repeated key: {value_text(key)}")
                made[key] = value.value if is_optional else value
            frame.spend(MAP_COST)
            return made

        return make

    def _object(self, node: ObjectLiteral) -> Step:
        type_name = node.name.removeprefix(".")
        steps = [(str(one.key), *self._value(one)) for one in node.fields]

        def make(frame: Frame) -> dict[str, Any]:
            made = ObjectValue(type_name)
            for name, step, is_optional in steps:
                value = step(frame)
                if not is_optional:
                    made[name] = value
                elif value.has_value:
                    made[name] = value.value
            frame.spend(OBJECT_COST)
            return made

        return make

    def _value(self, entry: EntryExpr) -> tuple[Step, bool]:
        return self.compiled(entry.value), entry.is_optional

    # Comprehensions

    def _comprehension(self, node: Comprehension) -> Step:
        over, start = self.compiled(node.over), self.compiled(node.start)
        condition, step, result = (self.compiled(one) for one in (node.condition, node.step, node.result))
        names = [name for name in (node.accumulator, node.variable, node.second) if name]
        gathered = _gathering(node)

        def fold(frame: Frame) -> Any:
            entries = _entries(over(frame), has_second=bool(node.second))
            variables = frame.variables
            hidden = {name: variables[name] for name in names if name in variables}
            variables[node.accumulator] = gathered(start(frame)) if gathered is not None else start(frame)
            try:
                for first, second in entries:
                    variables[node.variable] = first
                    if node.second:
                        variables[node.second] = second
                    if condition(frame) is False:
                        break
                    variables[node.accumulator] = _value_or_error(step, frame)
                value = result(frame)
            finally:
                for name in names:
                    variables.pop(name, None)
                variables.update(hidden)
            return value if gathered is None else _ended(value)

        return fold


def _computed(implementation: Implementation, arguments: Sequence[Any], frame: Frame) -> Any:
    """The value of a call. Raises EvaluationError, BudgetExceeded."""
    if isinstance(implementation, Budgeted):
        return implementation.work(frame.budget, *arguments)
    return implementation(*arguments)


_RESULT = "@result"
"""The accumulator of the macros. Expressions cannot name it."""


def _gathering(node: Comprehension) -> Callable[[Any], Any] | None:
    """The type of an accumulator that begins empty, only grows and is the result: a copy for each element would take a
    time that grows with the square of their number.
    """
    is_result = isinstance(node.result, Ident) and node.result.name == _RESULT == node.accumulator
    if not is_result:
        return None
    if isinstance(node.start, ListLiteral) and not node.start.elements:
        return Gathered
    return GatheredMap if isinstance(node.start, MapLiteral) and not node.start.entries else None


def _ended(value: Any) -> Any:
    """The accumulator at the end, as a list or map that does not change any more."""
    if type(value) is Gathered:
        return list(value)
    return dict(value) if type(value) is GatheredMap else value


class ObjectValue(dict[str, Any]):
    """An object made by an expression."""

    def __init__(self, type_name: str) -> None:
        super().__init__()
        self.type_name = type_name


class StepFailure:
    """The value of an accumulator whose step has failed. The failure is raised at each use."""

    def __init__(self, failure: EvaluationError) -> None:
        self._failure = failure

    def raise_again(self) -> NoReturn:
        """Raise the failure. Its traceback starts anew: otherwise it would keep the frames of all earlier uses."""
        raise self._failure.with_traceback(None)


_TYPE_VALUES = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration"}


def _value_or_error(step: Step, frame: Frame) -> Any:
    try:
        return step(frame)
    except EvaluationError as exc:
        return StepFailure(exc)


def _entries(value: Any, *, has_second: bool) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, list):
        if has_second:
            yield from enumerate(value)
        else:
            for element in value:
                yield element, None
    elif isinstance(value, dict):
        yield from value.items()
    else:
        raise overloads.no_range(value, has_second=has_second)
