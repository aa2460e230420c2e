"""Environment: cel-go's Env: the variables, object types and libraries of an expression; it compiles text into
programs.

Must hold: one environment serves many expressions. A program can be evaluated many times, with any variables of the
declared names. An evaluation that exceeds its budget, or descends too deep, ends as one that exceeds its cost limit.

A failure of a program's construction is reported as kube-apiserver does, with other words than a compile error.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any

from msgspec import Struct

from aio_apiserver.base.budget import Budget, BudgetExceeded
from aio_apiserver.registry.machinery.cel import checker, literal_checks, standard, syntax
from aio_apiserver.registry.machinery.cel.checker import Checked, Scope
from aio_apiserver.registry.machinery.cel.declarations import STANDARD, merged
from aio_apiserver.registry.machinery.cel.frames import CANCELLED, LIMITS, Frame, Step
from aio_apiserver.registry.machinery.cel.program import Dispatch, Implementation, ProgramCompiler
from aio_apiserver.registry.machinery.cel.standard import pattern
from aio_apiserver.registry.machinery.cel.syntax import Constant, Expr, FunctionCall, ListLiteral, MapLiteral, parts
from aio_apiserver.registry.machinery.cel.types import Function, Type
from aio_apiserver.registry.machinery.cel.values import CostExceeded, EvaluationError

CALL_LIMIT = 1_000_000
"""The cost limit of one evaluation."""


class Library(Struct, frozen=True, eq=False):
    """Functions and their implementations by overload. Compared by identity, so that combinations can be cached."""

    functions: Mapping[str, Function]
    implementations: Mapping[str, Implementation]


class Program(Struct, frozen=True, dict=True):
    """A compiled expression. It is planned for evaluation at the first use."""

    checked: Checked
    _libraries: tuple[Library, ...]

    @property
    def result(self) -> Type:
        """The type of its value."""
        return self.checked.result

    def evaluate(
        self, variables: Mapping[str, Any], *, limit: int = CALL_LIMIT, budget: Budget | None = None
    ) -> tuple[Any, int]:
        """The value and the cost of the evaluation. Raises EvaluationError, with its cost, and CostExceeded."""
        frame = Frame(variables, limit, budget or Budget(LIMITS))
        try:
            return self._step(frame), frame.cost
        except EvaluationError as failure:
            failure.cost = frame.cost
            raise
        except (BudgetExceeded, RecursionError) as exc:
            raise CostExceeded(CANCELLED) from exc

    def mistake(self) -> str:
        """Why a compiled expression cannot be prepared for evaluation; empty when it can."""
        return mistake(self.checked.tree.root, self._compiler)

    @cached_property
    def _step(self) -> Step:
        return self._compiler.compiled(self.checked.tree.root)

    @property
    def _compiler(self) -> ProgramCompiler:
        return ProgramCompiler(self.checked, _dispatch(self._libraries))


class CelEnvironment(Struct, frozen=True, dict=True):
    """variables: types by name. objects: fields of object types, by type name. has_bindings: whether cel.bind is
    allowed.
    """

    variables: Mapping[str, Type]
    objects: Mapping[str, Mapping[str, Type]]
    libraries: tuple[Library, ...] = ()
    has_bindings: bool = False

    def compile(self, text: str) -> Program:
        """Compile an expression. Raises Issue."""
        checked = checker.check(syntax.parse(text, has_bindings=self.has_bindings), self._scope)
        literal_checks.check(checked)
        return Program(checked, self.libraries)

    @cached_property
    def _scope(self) -> Scope:
        return Scope(self.variables, _functions(self.libraries), self.objects)


@lru_cache(maxsize=16)
def _functions(libraries: tuple[Library, ...]) -> Mapping[str, Function]:
    """The functions of the standard library and of these libraries."""
    return merged(STANDARD, *(library.functions for library in libraries))


@lru_cache(maxsize=16)
def _dispatch(libraries: tuple[Library, ...]) -> Dispatch:
    """The implementations of the functions of these libraries."""
    implementations = dict(standard.IMPLEMENTATIONS)
    for library in libraries:
        implementations.update(library.implementations)
    return Dispatch(
        {
            one.id: (standard.kinds_of(one), implementations[one.id])
            for function in _functions(libraries).values()
            for one in function.overloads
            if one.id in implementations
        }
    )


_FINDERS = frozenset({"find", "findAll"})
_CONVERSIONS = frozenset({"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"})
_LIMIT = 10_000


def mistake(root: Expr, compiler: ProgramCompiler) -> str:
    """Why an expression cannot be instantiated; empty when it can."""
    budget = Budget(LIMITS)
    for call in _calls(root):
        try:
            if call.function in _FINDERS:
                _check_pattern(call, budget)
            elif call.function in _CONVERSIONS and _is_constant(call):
                compiler.compiled(call)(Frame({}, _LIMIT, budget))
        except (EvaluationError, BudgetExceeded) as exc:
            return str(exc)
    return ""


def _calls(node: Expr) -> Iterator[FunctionCall]:
    """The calls of a tree, inner calls first."""
    for part in parts(node):
        yield from _calls(part)
    if isinstance(node, FunctionCall):
        yield node


def _check_pattern(call: FunctionCall, budget: Budget) -> None:
    argument = call.arguments[0] if call.arguments else None
    if isinstance(argument, Constant) and isinstance(argument.value, str):
        pattern(argument.value, budget)


def _is_constant(node: Expr) -> bool:
    if isinstance(node, FunctionCall):
        return node.function in _CONVERSIONS and node.target is None and all(map(_is_constant, node.arguments))
    return isinstance(node, Constant) or (
        isinstance(node, (ListLiteral, MapLiteral)) and all(map(_is_constant, parts(node)))
    )
