"""Literal checks: validates constant durations, timestamps, patterns and formats in a CEL tree at compile time.

It also checks that all members of a list or map literal have one type. Arguments of `format` may mix types.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from aio_apiserver.base.budget import Budget, BudgetExceeded
from aio_apiserver.registry.machinery.cel import format_checks, times
from aio_apiserver.registry.machinery.cel.checker import Checked
from aio_apiserver.registry.machinery.cel.frames import LIMITS
from aio_apiserver.registry.machinery.cel.standard import pattern
from aio_apiserver.registry.machinery.cel.syntax import (
    Constant,
    Expr,
    FunctionCall,
    ListLiteral,
    MapLiteral,
    complain,
    parts,
    walk,
)
from aio_apiserver.registry.machinery.cel.types import Type
from aio_apiserver.registry.machinery.cel.values import EvaluationError


def check(checked: Checked) -> None:
    """Report all invalid literals. Raises Issue."""
    found = [
        (argument, f"invalid {function} argument")
        for node in walk(checked.tree.root)
        if isinstance(node, FunctionCall)
        for function, argument in _wrong(node)
    ]
    found += [*format_checks.wrong_formats(checked), *_mixed(checked, checked.tree.root)]
    if found:
        raise complain(checked.tree.text, [(checked.tree.places.get(node.id, 0), text) for node, text in found])


def _mixed(checked: Checked, node: Expr) -> Iterator[tuple[Expr, str]]:
    """The first element of a list, and all keys and values of a map, of another type than those before."""
    if isinstance(node, FunctionCall) and node.function == format_checks.FORMAT:
        if node.target is not None:
            yield from _mixed(checked, node.target)
        return
    if isinstance(node, ListLiteral):
        yield from islice(_differing(checked, node.elements, node.optional), 1)
    elif isinstance(node, MapLiteral):
        keys = [entry.key for entry in node.entries if isinstance(entry.key, Expr)]
        optional = frozenset(index for index, entry in enumerate(node.entries) if entry.is_optional)
        yield from _differing(checked, keys)
        yield from _differing(checked, [entry.value for entry in node.entries], optional)
    for part in parts(node):
        yield from _mixed(checked, part)


def _differing(
    checked: Checked, nodes: Sequence[Expr], optional: frozenset[int] = frozenset()
) -> Iterator[tuple[Expr, str]]:
    first: Type | None = None
    for index, node in enumerate(nodes):
        found = checked.types[node.id]
        if index in optional and found.is_optional:
            found = found.params[0]
        if first is None:
            first = found
        elif found != first and not (found.is_wild or first.is_wild):
            yield node, f"expected type '{first}' but found '{found}'"


def _is_pattern(text: str) -> bool:
    try:
        pattern(text, Budget(LIMITS))
    except (EvaluationError, BudgetExceeded):
        return False
    return True


_TESTS: Mapping[str, Callable[[str], bool]] = {
    "duration": lambda text: times.parse_duration(text) is not None,
    "timestamp": lambda text: times.parse_timestamp(text) is not None,
    "matches": _is_pattern,
}


def _wrong(node: FunctionCall) -> Iterator[tuple[str, Expr]]:
    test = _TESTS.get(node.function)
    if test is None or not node.arguments:
        return
    argument = node.arguments[-1]
    if not isinstance(argument, Constant):
        return
    if node.function == "timestamp" and type(argument.value) is int and not argument.is_unsigned:
        is_right = times.MIN_SECONDS <= argument.value <= times.MAX_SECONDS
    else:
        is_right = not isinstance(argument.value, str) or test(argument.value)
    if not is_right:
        yield node.function, argument
