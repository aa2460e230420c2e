"""Environment: cel-go's Env: the variables, object types and libraries of an expression; it compiles text into
programs.

Must hold: one environment serves many expressions. A program can be evaluated many times, with any variables of the
declared names.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.machinery.cel import checker, instantiation, literal_checks, standard, syntax
from aio_apiserver.registry.machinery.cel.checker import Checked, Scope
from aio_apiserver.registry.machinery.cel.declarations import STANDARD, merged
from aio_apiserver.registry.machinery.cel.frames import Frame, Step
from aio_apiserver.registry.machinery.cel.program import Dispatch, ProgramCompiler
from aio_apiserver.registry.machinery.cel.types import Function, Type
from aio_apiserver.registry.machinery.cel.values import EvaluationError

CALL_LIMIT = 1_000_000
"""The cost limit of one evaluation."""


class Library(Struct, frozen=True, eq=False):
    """Functions and their implementations by overload. Compared by identity, so that combinations can be cached."""

    functions: Mapping[str, Function]
    implementations: Mapping[str, Callable[..., Any]]


class Program(Struct, frozen=True, dict=True):
    """A compiled expression. It is planned for evaluation at the first use."""

    checked: Checked
    _libraries: tuple[Library, ...]

    @property
    def result(self) -> Type:
        """The type of its value."""
        return self.checked.result

    def evaluate(self, variables: Mapping[str, Any], *, limit: int = CALL_LIMIT) -> tuple[Any, int]:
        """The value and the cost of the evaluation. Raises EvaluationError, with its cost, and CostExceeded."""
        frame = Frame(variables, limit)
        try:
            return self._step(frame), frame.cost
        except EvaluationError as failure:
            failure.cost = frame.cost
            raise

    def mistake(self) -> str:
        """Why a compiled expression cannot be prepared for evaluation; empty when it can."""
        return instantiation.mistake(self.checked.tree.root, self._compiler)

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
