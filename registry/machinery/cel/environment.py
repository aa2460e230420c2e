"""Environments: what expressions of one place may refer to; they compile texts into programs.

Must hold: an environment is made once and used for many expressions; a program can be evaluated any number of times,
from anywhere, with variables of the declared names.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.machinery.cel import checker, instantiation, literals, standard, syntax
from aio_apiserver.registry.machinery.cel.checker import Checked, Scope
from aio_apiserver.registry.machinery.cel.declarations import STANDARD, merged
from aio_apiserver.registry.machinery.cel.frames import Frame, Step
from aio_apiserver.registry.machinery.cel.program import Compiler, Dispatch
from aio_apiserver.registry.machinery.cel.types import Function, Type

CALL_LIMIT = 1_000_000
"""What one evaluation may cost."""


class Library(Struct, frozen=True, eq=False):
    """Functions, and what they do by overload. Each is what it is: what follows from several is found out once."""

    functions: Mapping[str, Function]
    implementations: Mapping[str, Callable[..., Any]]


class Program(Struct, frozen=True, dict=True):
    """A compiled expression. How it is evaluated is found out when it is for the first time."""

    checked: Checked
    _libraries: tuple[Library, ...]

    @property
    def result(self) -> Type:
        """The type of what it computes."""
        return self.checked.result

    def evaluate(self, variables: Mapping[str, Any], *, limit: int = CALL_LIMIT) -> tuple[Any, int]:
        """The value, and what it has cost. Raises EvaluationError, CostExceeded."""
        frame = Frame(variables, limit)
        return self._step(frame), frame.cost

    def mistake(self) -> str:
        """Why it cannot be made ready to run though it has compiled; empty when it can."""
        return instantiation.mistake(self.checked.tree.root, self._compiler)

    @cached_property
    def _step(self) -> Step:
        return self._compiler.compiled(self.checked.tree.root)

    @property
    def _compiler(self) -> Compiler:
        return Compiler(self.checked, _dispatch(self._libraries))


class Environment(Struct, frozen=True, dict=True):
    """variables: types by name. objects: fields of object types by name of the type. has_bindings: with cel.bind."""

    variables: Mapping[str, Type]
    objects: Mapping[str, Mapping[str, Type]]
    libraries: tuple[Library, ...] = ()
    has_bindings: bool = False

    def compile(self, text: str) -> Program:
        """Compile an expression. Raises Issue."""
        checked = checker.check(syntax.parse(text, has_bindings=self.has_bindings), self._scope)
        literals.check(checked)
        return Program(checked, self.libraries)

    @cached_property
    def _scope(self) -> Scope:
        return Scope(self.variables, _functions(self.libraries), self.objects)


@lru_cache(maxsize=16)
def _functions(libraries: tuple[Library, ...]) -> Mapping[str, Function]:
    """What can be called with these libraries."""
    return merged(STANDARD, *(library.functions for library in libraries))


@lru_cache(maxsize=16)
def _dispatch(libraries: tuple[Library, ...]) -> Dispatch:
    """What the functions of these libraries do."""
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
