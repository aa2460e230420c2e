"""Templates: Go's text templates, as far as Stages of kwok use them.

Pure. Parts that are not supported are found when a template is parsed. Must hold: a variable of a block is gone after
its end.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from aio_apiserver.simulation.stages import template_values as values
from aio_apiserver.simulation.stages.template_expressions import Expression, Rendering
from aio_apiserver.simulation.stages.template_expressions import parse as expression
from aio_apiserver.simulation.stages.template_functions import Function
from aio_apiserver.simulation.stages.template_lexer import Action, TemplateToken, pieces
from aio_apiserver.simulation.stages.unsupported import Unsupported

Node = Callable[[Rendering], None]
Template = Callable[[Any, Mapping[str, Function]], str]

_ENDS = ("else", "end")
_FOREIGN = frozenset(("define", "template", "block", "break", "continue"))


def parse(source: str) -> Template:
    """A template, which renders an object with functions of the cluster. Raises Unsupported."""
    reader = _Blocks(source.strip())
    try:
        nodes, end = reader.block()
    except RecursionError:
        raise Unsupported("a template with hundreds of blocks or brackets in each other") from None
    if end:
        raise Unsupported(f"a template with {end[0].text!r} outside of a block")

    def render(obj: Any, given: Mapping[str, Function]) -> str:
        run = Rendering(obj, given, [("$", [obj])], [])
        try:
            _run_all(nodes, run)
        except RecursionError:
            raise values.TemplateFailure("its blocks are nested too deeply") from None
        return "".join(run.out)

    return render


class _Blocks:
    """The pieces of a template, from the first to the last."""

    def __init__(self, source: str) -> None:
        self._pieces: Iterator[str | Action] = pieces(source)

    def block(self) -> tuple[list[Node], tuple[TemplateToken, ...]]:
        """The nodes up to an `else` or `end`, and the tokens of that; none at the end of the template."""
        nodes: list[Node] = []
        for piece in self._pieces:
            if isinstance(piece, str):
                nodes.append(_text(piece))
            elif piece.tokens:
                if piece.tokens[0].text in _ENDS and piece.tokens[0].kind == "name":
                    return nodes, piece.tokens
                nodes.append(self._node(piece.tokens))
        return nodes, ()

    def _node(self, tokens: Sequence[TemplateToken]) -> Node:
        first = tokens[0].text if tokens[0].kind == "name" else ""
        if first in _FOREIGN:
            raise Unsupported(f"the template action {first}")
        if first not in _BLOCKS:
            return _action(tokens)
        names, value = _declared(tokens[1:])
        body, end = self.block()
        return _BLOCKS[first](names, value, body, self._otherwise(end))

    def _otherwise(self, end: Sequence[TemplateToken]) -> list[Node]:
        """The nodes after an `else`, up to the `end` of the block."""
        if not end:
            raise Unsupported("a template with a block that does not end")
        if end[0].text == "end":
            return []
        if len(end) > 1:  # else if, else with: one end closes both
            return [self._node(end[1:])]
        nodes, last = self.block()
        if not last or last[0].text != "end":
            raise Unsupported("a template with a block that does not end")
        return nodes


def _declared(tokens: Sequence[TemplateToken]) -> tuple[list[str], Expression]:
    """The variables that an action declares, and its pipeline."""
    for position, token in enumerate(tokens):
        if token.kind == "declare":
            names = [one.text for one in tokens[:position] if one.kind == "variable"]
            return names, expression(tokens[position + 1 :])
    return [], expression(tokens)


def _run_all(nodes: Sequence[Node], run: Rendering) -> None:
    for node in nodes:
        node(run)


def _run_block(nodes: Sequence[Node], run: Rendering, dot: Any, variables: Mapping[str, Any]) -> None:
    """Run nodes with another dot and with variables that end with the block."""
    before, depth = run.dot, len(run.variables)
    run.dot = dot
    run.variables.extend((name, [value]) for name, value in variables.items())
    _run_all(nodes, run)
    run.dot = before
    del run.variables[depth:]


def _text(text: str) -> Node:
    return lambda run: run.out.append(text)


def _action(tokens: Sequence[TemplateToken]) -> Node:
    if len(tokens) > 1 and tokens[0].kind == "variable" and tokens[1].text == "=":
        return _assignment(tokens[0].text, expression(tokens[2:]))
    names, value = _declared(tokens)
    if names:
        return lambda run: run.variables.append((names[0], [value(run)]))
    return lambda run: run.out.append(values.printed(value(run)))


def _assignment(name: str, value: Expression) -> Node:
    def assign(run: Rendering) -> None:
        run.variable(name)[0] = value(run)

    return assign


def _if(names: Sequence[str], value: Expression, body: Sequence[Node], otherwise: Sequence[Node]) -> Node:
    def node(run: Rendering) -> None:
        found = value(run)
        nodes = body if values.is_true(found) else otherwise
        _run_block(nodes, run, run.dot, dict.fromkeys(names, found))

    return node


def _with(names: Sequence[str], value: Expression, body: Sequence[Node], otherwise: Sequence[Node]) -> Node:
    def node(run: Rendering) -> None:
        found = value(run)
        is_true = values.is_true(found)
        _run_block(body if is_true else otherwise, run, found if is_true else run.dot, dict.fromkeys(names, found))

    return node


def _range(names: Sequence[str], value: Expression, body: Sequence[Node], otherwise: Sequence[Node]) -> Node:
    def node(run: Rendering) -> None:
        items = list(_items(value(run)))
        for pair in items:
            _run_block(body, run, pair[1], dict(zip(names, pair[-len(names) :], strict=True)) if names else {})
        if not items:
            _run_block(otherwise, run, run.dot, {})

    return node


def _items(value: Any) -> Iterator[tuple[Any, Any]]:
    """The keys and values of a range. Raises TemplateFailure."""
    if isinstance(value, list):
        yield from enumerate(value)
    elif isinstance(value, dict):
        yield from sorted(value.items())
    elif value is not None:
        raise values.TemplateFailure(f"range cannot go over {values.printed(value)}")


_BLOCKS = {"if": _if, "with": _with, "range": _range}
