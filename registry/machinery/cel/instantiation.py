"""Instantiation: evaluates constant conversions and compiles constant patterns of a CEL program before its first run.

Must hold: a failure here is reported as kube-apiserver does, with other words than a compile error.
"""

from collections.abc import Iterator

from aio_apiserver.registry.machinery.cel.frames import Frame
from aio_apiserver.registry.machinery.cel.program import ProgramCompiler
from aio_apiserver.registry.machinery.cel.standard import pattern
from aio_apiserver.registry.machinery.cel.syntax import Constant, Expr, FunctionCall, ListLiteral, MapLiteral, parts
from aio_apiserver.registry.machinery.cel.values import EvaluationError

_FINDERS = frozenset({"find", "findAll"})
_CONVERSIONS = frozenset({"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"})
_LIMIT = 10_000


def mistake(root: Expr, compiler: ProgramCompiler) -> str:
    """Why an expression cannot be instantiated; empty when it can."""
    for call in _calls(root):
        try:
            if call.function in _FINDERS:
                _check_pattern(call)
            elif call.function in _CONVERSIONS and _is_constant(call):
                compiler.compiled(call)(Frame({}, _LIMIT))
        except EvaluationError as exc:
            return str(exc)
    return ""


def _calls(node: Expr) -> Iterator[FunctionCall]:
    """The calls of a tree, inner calls first."""
    for part in parts(node):
        yield from _calls(part)
    if isinstance(node, FunctionCall):
        yield node


def _check_pattern(call: FunctionCall) -> None:
    argument = call.arguments[0] if call.arguments else None
    if isinstance(argument, Constant) and isinstance(argument.value, str):
        pattern(argument.value)


def _is_constant(node: Expr) -> bool:
    if isinstance(node, FunctionCall):
        return node.function in _CONVERSIONS and node.target is None and all(map(_is_constant, node.arguments))
    return isinstance(node, Constant) or (
        isinstance(node, (ListLiteral, MapLiteral)) and all(map(_is_constant, parts(node)))
    )
