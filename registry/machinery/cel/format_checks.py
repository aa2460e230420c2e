"""Format checks: validates constant format strings of `format` against the types of their arguments at compile time.

Pure. Must hold: calls with another template or list than a literal are left to the evaluation.
"""

from collections.abc import Iterator, Mapping, Sequence

from aio_apiserver.registry.machinery.cel import format_clauses
from aio_apiserver.registry.machinery.cel.checker import Checked
from aio_apiserver.registry.machinery.cel.syntax import Constant, Expr, FunctionCall, ListLiteral, MapLiteral, walk
from aio_apiserver.registry.machinery.cel.types import Type, TypeKind, declared
from aio_apiserver.registry.machinery.cel.values import EvaluationError

FORMAT = "format"
_WHOLE = frozenset({TypeKind.INT, TypeKind.UINT})
_NUMBERS = frozenset({TypeKind.DOUBLE, TypeKind.STRING})
_TEXTS = _WHOLE | {
    *(TypeKind.LIST, TypeKind.MAP, TypeKind.DOUBLE, TypeKind.BOOL, TypeKind.STRING, TypeKind.TIMESTAMP),
    *(TypeKind.BYTES, TypeKind.DURATION, TypeKind.TYPE, TypeKind.NULL),
}
_HEX = ("hex", _WHOLE | {TypeKind.STRING, TypeKind.BYTES})
_CLAUSES: Mapping[str, tuple[str, frozenset[TypeKind]]] = {
    "s": ("string", _TEXTS),
    "d": ("decimal", _WHOLE),
    "f": ("fixed-point", _NUMBERS),
    "e": ("scientific", _NUMBERS),
    "b": ("binary", _WHOLE | {TypeKind.BOOL}),
    "x": _HEX,
    "X": _HEX,
    "o": ("octal", _WHOLE),
}
"""By verb, the name of the clause and the types that it writes."""


class _Misfit(Exception):
    """An argument of a type that its clause does not write."""

    def __init__(self, argument: Expr, why: str) -> None:
        super().__init__(why)
        self.argument = argument


def wrong_formats(checked: Checked) -> Iterator[tuple[Expr, str]]:
    """The nodes with mistakes, and the messages."""
    for node in walk(checked.tree.root):
        if isinstance(node, FunctionCall) and node.function == FORMAT and len(node.arguments) == 1:
            template, arguments = node.target, node.arguments[0]
            if (
                isinstance(template, Constant)
                and isinstance(template.value, str)
                and isinstance(arguments, ListLiteral)
            ):
                yield from _wrong(checked, node, template.value, arguments.elements)


def _wrong(checked: Checked, call: Expr, template: str, arguments: Sequence[Expr]) -> Iterator[tuple[Expr, str]]:
    def check(index: int, verb: str, _precision: int) -> str:
        clause, types = _CLAUSES[verb]
        parts = _written(arguments[index]) if verb == "s" else (arguments[index],)
        for part in parts:
            _check(part, checked.types[part.id], clause, types)
        return ""

    try:
        _, used = format_clauses.fill(template, len(arguments), check, is_check=True)
    except _Misfit as exc:
        yield exc.argument, str(exc)
    except EvaluationError as exc:
        yield call, str(exc)
    else:
        if len(arguments) > used:
            yield call, f"too many arguments supplied to string.format (expected {used}, got {len(arguments)})"


def _check(argument: Expr, found: Type, clause: str, types: frozenset[TypeKind]) -> None:
    if not found.is_wild and found.kind not in types:
        raise _Misfit(argument, format_clauses.refusal(clause, declared(Type(found.kind, found.name))))


def _written(argument: Expr) -> Iterator[Expr]:
    """An argument of `%s` with the members of list and map literals in it."""
    yield argument
    if isinstance(argument, ListLiteral):
        for element in argument.elements:
            yield from _written(element)
    elif isinstance(argument, MapLiteral):
        for entry in argument.entries:
            if isinstance(entry.key, Expr):
                yield from _written(entry.key)
            yield from _written(entry.value)
