"""Template expressions: pipelines of Go's templates, from tokens to functions of a rendering.

Pure. `and` and `or` evaluate their arguments until one decides.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from aio_apiserver.simulation.stages import template_values as values
from aio_apiserver.simulation.stages.template_functions import FUNCTIONS, OF_THE_CLUSTER, Function
from aio_apiserver.simulation.stages.template_lexer import TemplateToken
from aio_apiserver.simulation.stages.unsupported import Unsupported

Place = list[Any]


class Rendering(Struct):
    """One run of a template. variables: the innermost one last."""

    dot: Any
    given: Mapping[str, Function]
    variables: list[tuple[str, Place]]
    out: list[str]

    def variable(self, name: str) -> Place:
        """The place of a variable. Raises TemplateFailure."""
        for known, place in reversed(self.variables):
            if known == name:
                return place
        raise values.TemplateFailure(f"undefined variable {name}")


Expression = Callable[[Rendering], Any]
_LITERALS = {"true": True, "false": False, "nil": None}
_DECIDING = {"or": True, "and": False}
"""The functions that stop at an argument of this truth."""


def parse(tokens: Sequence[TemplateToken]) -> Expression:
    """The value of a pipeline. Raises Unsupported."""
    reader = _Reader(tokens)
    pipeline = reader.pipeline()
    if reader.next is not None:
        raise Unsupported(f"{reader.next.text!r} in a template")
    return pipeline


class _Reader:
    """The tokens of a pipeline, from the first to the last."""

    def __init__(self, tokens: Sequence[TemplateToken]) -> None:
        self._tokens = tokens
        self._position = 0

    @property
    def next(self) -> TemplateToken | None:
        return self._tokens[self._position] if self._position < len(self._tokens) else None

    def _is_at(self, text: str) -> bool:
        return self.next is not None and self.next.kind == "mark" and self.next.text == text

    def _take(self) -> TemplateToken:
        token = self.next
        if token is None:
            raise Unsupported("an action of a template that ends too early")
        self._position += 1
        return token

    def pipeline(self) -> Expression:
        value = self._command([])
        while self._is_at("|"):
            self._take()
            if self.next is None or self.next.kind != "name":
                raise Unsupported("a pipe of a template without a function")
            value = self._command([value])
        return value

    def _command(self, piped: list[Expression]) -> Expression:
        token = self.next
        if token is None or token.kind != "name" or token.text in _LITERALS:
            return self._operand()
        self._take()
        arguments = []
        while self.next is not None and not self._is_at("|") and not self._is_at(")"):
            arguments.append(self._operand())
        return _call(token.text, arguments + piped)

    def _operand(self) -> Expression:
        token = self._take()
        if token.kind == "mark" and token.text == "(":
            inside = self.pipeline()
            if self._take().text != ")":
                raise Unsupported("a template with a missing )")
            return self._with_fields(inside)
        if token.kind == "name" and token.text not in _LITERALS:
            return _call(token.text, [])
        read = _OPERANDS.get(token.kind)
        if read is None:
            raise Unsupported(f"{token.text!r} in a template")
        return read(token.text)

    def _with_fields(self, inside: Expression) -> Expression:
        if self.next is not None and self.next.kind == "field" and self.next.is_joined:
            return _fields(inside, self._take().text)
        return inside


def _call(name: str, arguments: Sequence[Expression]) -> Expression:
    if name in _DECIDING and arguments:
        return _deciding(arguments, decides=_DECIDING[name])
    if name not in FUNCTIONS and name not in OF_THE_CLUSTER:
        raise Unsupported(f"the template function {name}")

    def call(run: Rendering) -> Any:
        function = FUNCTIONS.get(name) or run.given[name]
        try:
            return function(*(one(run) for one in arguments))
        except (TypeError, AttributeError, ValueError, LookupError, ArithmeticError) as exc:
            raise values.TemplateFailure(f"the template function {name}: {exc}") from None

    return call


def _deciding(arguments: Sequence[Expression], *, decides: bool) -> Expression:
    def evaluate(run: Rendering) -> Any:
        value = None
        for one in arguments:
            value = one(run)
            if values.is_true(value) is decides:
                break
        return value

    return evaluate


def _fields(base: Expression, path: str) -> Expression:
    names = path.removeprefix(".").split(".")

    def walk(run: Rendering) -> Any:
        value = base(run)
        for name in names:
            value = values.member(value, name)
        return value

    return walk


def _dot(run: Rendering) -> Any:
    return run.dot


def _variable(text: str) -> Expression:
    name, _, path = text.partition(".")

    def read(run: Rendering) -> Any:
        return run.variable(name)[0]

    return _fields(read, path) if path else read


def _constant(value: Any) -> Expression:
    return lambda _run: value


def _text(text: str) -> Expression:
    try:
        return _constant(text[1:-1] if text.startswith("`") else json.loads(text))
    except ValueError as exc:
        raise Unsupported(f"the text {text} in a template: {exc}") from exc


def _number(text: str) -> Expression:
    return _constant(float(text) if "." in text else int(text))


_OPERANDS: Mapping[str, Callable[[str], Expression]] = {
    "dot": lambda _text: _dot,
    "field": lambda text: _fields(_dot, text),
    "variable": _variable,
    "text": _text,
    "number": _number,
    "name": lambda text: _constant(_LITERALS[text]),
}
