"""What is computed once, when an expression is made ready to run: conversions of constants, patterns to find.

Must hold: what fails here has compiled; kube-apiserver tells it from what has not.
"""

from collections.abc import Iterator

from aio_apiserver.registry.machinery.cel.frames import Frame
from aio_apiserver.registry.machinery.cel.program import Compiler
from aio_apiserver.registry.machinery.cel.standard import pattern
from aio_apiserver.registry.machinery.cel.syntax import Call, ListLiteral, Literal, MapLiteral, Node, parts
from aio_apiserver.registry.machinery.cel.values import EvaluationError

_FINDERS = frozenset({"find", "findAll"})
_CONVERSIONS = frozenset({"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"})
_LIMIT = 10_000


def mistake(root: Node, compiler: Compiler) -> str:
    """Why an expression cannot be made ready; empty when it can."""
    for call in _calls(root):
        try:
            if call.function in _FINDERS:
                _check_pattern(call)
            elif call.function in _CONVERSIONS and _is_constant(call):
                compiler.compiled(call)(Frame({}, _LIMIT))
        except EvaluationError as exc:
            return str(exc)
    return ""


def _calls(node: Node) -> Iterator[Call]:
    """Inner ones first."""
    for part in parts(node):
        yield from _calls(part)
    if isinstance(node, Call):
        yield node


def _check_pattern(call: Call) -> None:
    argument = call.arguments[0] if call.arguments else None
    if isinstance(argument, Literal) and isinstance(argument.value, str):
        pattern(argument.value)


def _is_constant(node: Node) -> bool:
    if isinstance(node, Call):
        return node.function in _CONVERSIONS and node.target is None and all(map(_is_constant, node.arguments))
    return isinstance(node, Literal) or (
        isinstance(node, (ListLiteral, MapLiteral)) and all(map(_is_constant, parts(node)))
    )
