"""Literals: what is written out is checked before anything runs: durations, times, patterns; lists and maps, whose
parts have to be of one type (but for what is to be formatted)."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from aio_apiserver.registry.machinery.cel import times
from aio_apiserver.registry.machinery.cel.checker import Checked
from aio_apiserver.registry.machinery.cel.standard import pattern
from aio_apiserver.registry.machinery.cel.syntax import (
    Call,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    complain,
    parts,
    walk,
)
from aio_apiserver.registry.machinery.cel.types import Type
from aio_apiserver.registry.machinery.cel.values import EvaluationError


def check(checked: Checked) -> None:
    """Complain of all that cannot be what it is used as. Raises Issue."""
    found = [
        (argument, f"invalid {function} argument")
        for node in walk(checked.tree.root)
        if isinstance(node, Call)
        for function, argument in _wrong(node)
    ]
    found += _mixed(checked, checked.tree.root)
    if found:
        raise complain(checked.tree.text, [(checked.tree.places.get(node.id, 0), text) for node, text in found])


_MAY_MIX = "format"


def _mixed(checked: Checked, node: Node) -> Iterator[tuple[Node, str]]:
    """The parts of lists and maps that are not of the type of those before them."""
    if isinstance(node, Call) and node.function == _MAY_MIX:
        if node.target is not None:
            yield from _mixed(checked, node.target)
        return
    if isinstance(node, ListLiteral):
        yield from _differing(checked, node.elements, node.optional)
    elif isinstance(node, MapLiteral):
        yield from _differing(checked, [entry.key for entry in node.entries if isinstance(entry.key, Node)])
        optional = frozenset(index for index, entry in enumerate(node.entries) if entry.is_optional)
        yield from _differing(checked, [entry.value for entry in node.entries], optional)
    for part in parts(node):
        yield from _mixed(checked, part)


def _differing(
    checked: Checked, nodes: Sequence[Node], optional: frozenset[int] = frozenset()
) -> Iterator[tuple[Node, str]]:
    first: Type | None = None
    for index, node in enumerate(nodes):
        found = checked.types[node.id]
        if index in optional and found.is_optional:
            found = found.params[0]
        if first is None:
            first = found
        elif found != first and not (found.is_wild or first.is_wild):
            yield node, f"expected type '{first}' but found '{found}'"
            return


def _is_pattern(text: str) -> bool:
    try:
        pattern(text)
    except EvaluationError:
        return False
    return True


_TESTS: Mapping[str, Callable[[str], bool]] = {
    "duration": lambda text: times.parse_duration(text) is not None,
    "timestamp": lambda text: times.parse_timestamp(text) is not None,
    "matches": _is_pattern,
}


def _wrong(node: Call) -> Iterator[tuple[str, Node]]:
    test = _TESTS.get(node.function)
    if test is None or not node.arguments:
        return
    argument = node.arguments[-1]
    if not isinstance(argument, Literal):
        return
    if node.function == "timestamp" and type(argument.value) is int and not argument.is_unsigned:
        is_right = times.MIN_SECONDS <= argument.value <= times.MAX_SECONDS
    else:
        is_right = not isinstance(argument.value, str) or test(argument.value)
    if not is_right:
        yield node.function, argument
