"""Literals: arguments that are written out are checked before anything runs: durations, times, patterns."""

from collections.abc import Callable, Iterator, Mapping

from registry.cel import times
from registry.cel.checker import Checked
from registry.cel.standard import pattern
from registry.cel.syntax import (
    Call,
    Comprehension,
    ListLiteral,
    Literal,
    MapLiteral,
    Node,
    ObjectLiteral,
    Select,
    complain,
)
from registry.cel.values import EvaluationError


def check(checked: Checked) -> None:
    """Complain of all that cannot be what it is used as. Raises Issue."""
    mistakes = [
        (checked.tree.places.get(argument.id, 0), f"invalid {function} argument")
        for node in walk(checked.tree.root)
        if isinstance(node, Call)
        for function, argument in _wrong(node)
    ]
    if mistakes:
        raise complain(checked.tree.text, mistakes)


def walk(node: Node) -> Iterator[Node]:
    """A node and all that it is made of."""
    yield node
    for part in _parts(node):
        yield from walk(part)


def _parts(node: Node) -> Iterator[Node]:
    match node:
        case Select():
            yield node.operand
        case Call():
            if node.target is not None:
                yield node.target
            yield from node.arguments
        case ListLiteral():
            yield from node.elements
        case MapLiteral():
            for entry in node.entries:
                if isinstance(entry.key, Node):
                    yield entry.key
                yield entry.value
        case ObjectLiteral():
            for entry in node.fields:
                yield entry.value
        case Comprehension():
            yield from (node.over, node.start, node.condition, node.step, node.result)


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
    if isinstance(argument, Literal) and isinstance(argument.value, str) and not test(argument.value):
        yield node.function, argument
