"""Syntax: parses the text of a CEL expression into a tree, with Google's parser. Macros are expanded.

Must hold: an expression that cannot be parsed raises Issue with kube-apiserver's text. The tree knows the position of
each node in the text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.machinery.cel import long_sums
from aio_apiserver.registry.machinery.cel.long_sums import Part
from aio_apiserver.registry.machinery.cel.parser_messages import Envelope

_MACROS = ("optional", "two-var-comprehensions", "lists")
_BINDING_MACROS = (*_MACROS, "bindings")


class Expr(Struct, frozen=True):
    """A node of the tree, upstream's Expr."""

    id: int


class Constant(Expr, frozen=True):
    """A constant: None, bool, int, float, str or bytes. `is_unsigned` marks a uint."""

    value: Any
    is_unsigned: bool = False


class Ident(Expr, frozen=True):
    """A variable or type name."""

    name: str


class Select(Expr, frozen=True):
    """A field of the operand, or with `is_test` the macro has()."""

    operand: Expr
    field: str
    is_test: bool = False


class FunctionCall(Expr, frozen=True):
    """A call of a function or operator, or of a method of `target`."""

    function: str
    arguments: tuple[Expr, ...]
    target: Expr | None = None


class ListLiteral(Expr, frozen=True):
    """A list. Elements at `optional` indexes are skipped when they have no value."""

    elements: tuple[Expr, ...]
    optional: frozenset[int] = frozenset()


class EntryExpr(Expr, frozen=True):
    """A member of a map or object. The key of an object's member is a field name."""

    key: Expr | str
    value: Expr
    is_optional: bool = False


class MapLiteral(Expr, frozen=True):
    """A map."""

    entries: tuple[EntryExpr, ...]


class ObjectLiteral(Expr, frozen=True):
    """An object of a named type."""

    name: str
    fields: tuple[EntryExpr, ...]


class Comprehension(Expr, frozen=True):
    """The fold into which the parser expands `all`, `exists`, `map` and other macros."""

    variable: str
    second: str
    over: Expr
    accumulator: str
    start: Expr
    condition: Expr
    step: Expr
    result: Expr


class Tree(Struct, frozen=True):
    """A whole expression. `places` has the offset of each node in the text."""

    text: str
    root: Expr
    places: dict[int, int]


def walk(node: Expr) -> Iterator[Expr]:
    """A node and all nodes below it."""
    yield node
    for part in parts(node):
        yield from walk(part)


def parts(node: Expr) -> Iterator[Expr]:
    """The direct parts of a node."""
    match node:
        case Select():
            yield node.operand
        case FunctionCall():
            if node.target is not None:
                yield node.target
            yield from node.arguments
        case ListLiteral():
            yield from node.elements
        case MapLiteral():
            for entry in node.entries:
                if isinstance(entry.key, Expr):
                    yield entry.key
                yield entry.value
        case ObjectLiteral():
            for entry in node.fields:
                yield entry.value
        case Comprehension():
            yield from (node.over, node.start, node.condition, node.step, node.result)


class Issue(Exception):
    """The mistakes of an expression, each with its position and source line."""


def complain(text: str, mistakes: list[tuple[int, str]]) -> Issue:
    """An Issue from pairs of offset and message."""
    lines = []
    for offset, message in sorted(mistakes, key=lambda one: one[0]):
        start = text.rfind("\n", 0, max(offset, 0)) + 1
        line = text.count("\n", 0, max(offset, 0)) + 1
        column = offset - start
        end = text.find("\n", start)
        shown = text[start : end if end >= 0 else len(text)].replace("\t", " ")
        lines.append(f"ERROR: <input>:{line}:{column + 1}: {message}\n | {shown}\n | {'.' * column}^")
    return Issue("\n".join(lines))


_TOO_DEEP = "Exceeded max recursion depth"
_STATUS = re.compile(r"^(INVALID_ARGUMENT: )?(?P<text>.*?)( \[INVALID_ARGUMENT\])?$", re.DOTALL)
_SAME = {
    "has() argument must be a field selection": "invalid argument to has() macro",
    r"'\u003F'": "'?'",
    **{
        f"no viable alternative at input '.{word}'": f"mismatched input '{word}' expecting IDENTIFIER"
        for word in ("true", "false", "null")
    },
}


_NO_VARIABLE = re.compile(r"(\w+)\(\) (?:first |second )?variable name must be a simple identifier")


def _no_variable(found: re.Match[str]) -> str:
    return "argument is not an identifier" if found[1] in ("map", "filter") else "argument must be a simple name"


def parse(text: str, *, has_bindings: bool = False) -> Tree:
    """Parse an expression; `has_bindings` allows cel.bind. Raises Issue."""
    try:
        encoded = _parser(_BINDING_MACROS if has_bindings else _MACROS).compile(text, disable_check=True).serialize()
    except Exception as exc:
        if _TOO_DEEP in str(exc) and (parts_of_sum := long_sums.parts(text)):
            return _sum(text, parts_of_sum, has_bindings=has_bindings)
        complaint = _as_known(str(exc))
        # In an empty text, cel-go reports column 0.
        raise Issue(complaint if text else complaint.replace("<input>:1:1:", "<input>:1:0:")) from exc
    message = Envelope.FromString(encoded).value
    root = _node(message.expr)
    return Tree(text, root, _places(text, root, message.source_info.positions))


def _sum(text: str, parts_of_sum: Sequence[Part], *, has_bindings: bool) -> Tree:
    """A sum parsed part by part. Raises Issue."""
    whole: Expr | None = None
    places: dict[int, int] = {}
    for part in parts_of_sum:
        tree = parse(part.text, has_bindings=has_bindings)
        first = max(places, default=0)
        places |= {first + number: place for number, place in tree.places.items()}
        root = _renumbered(tree.root, first)
        if whole is None:
            whole = root
            continue
        number = max(places, default=0) + 1
        places[number] = part.place
        whole = FunctionCall(number, part.function, (whole, root))
    assert whole is not None
    return Tree(text, whole, places)


def _renumbered(value: Any, by: int) -> Any:
    """A node with all ids in its tree raised by a number."""
    if isinstance(value, tuple):
        return tuple(_renumbered(one, by) for one in value)
    if not isinstance(value, Expr):
        return value
    changed = {name: _renumbered(getattr(value, name), by) for name in value.__struct_fields__ if name != "id"}
    return type(value)(id=value.id + by, **changed)


def _places(text: str, root: Expr, positions: Mapping[int, int]) -> dict[int, int]:
    """The offset of each node; an object has the offset of its brace."""
    places = dict(positions)
    for node in walk(root):
        if isinstance(node, ObjectLiteral):
            places[node.id] = max(text.find("{", places.get(node.id, 0)), 0)
    return places


def _as_known(complaint: str) -> str:
    match = _STATUS.match(complaint)
    text = match["text"] if match else complaint
    text = _NO_VARIABLE.sub(_no_variable, text)
    for theirs, ours in _SAME.items():
        text = text.replace(theirs, ours)
    return text


@lru_cache(maxsize=2)
def _parser(macros: Sequence[str]) -> Any:
    from cel_expr_python import cel  # slow to import; servers without expressions do not need it

    names = "".join(f'  - name: "{name}"\n' for name in macros)
    return cel.NewEnv(config=cel.NewEnvConfigFromYaml(f"extensions:\n{names}"))


def _node(message: Any) -> Expr:
    kind = message.WhichOneof("expr_kind")
    return _READERS[kind](message.id, getattr(message, kind))


def _literal(identity: int, message: Any) -> Expr:
    kind = message.WhichOneof("constant_kind")
    value = None if kind in (None, "null_value") else getattr(message, kind)
    return Constant(identity, value, kind == "uint64_value")


def _select(identity: int, message: Any) -> Expr:
    return Select(identity, _node(message.operand), message.field, message.test_only)


def _call(identity: int, message: Any) -> Expr:
    target = _node(message.target) if message.HasField("target") else None
    return FunctionCall(identity, message.function, tuple(map(_node, message.args)), target)


def _list(identity: int, message: Any) -> Expr:
    return ListLiteral(identity, tuple(map(_node, message.elements)), frozenset(message.optional_indices))


def _struct(identity: int, message: Any) -> Expr:
    entries = tuple(map(_entry, message.entries))
    if message.message_name:
        return ObjectLiteral(identity, message.message_name, entries)
    return MapLiteral(identity, entries)


def _entry(message: Any) -> EntryExpr:
    key = message.field_key if message.WhichOneof("key_kind") == "field_key" else _node(message.map_key)
    return EntryExpr(message.id, key, _node(message.value), message.optional_entry)


def _comprehension(identity: int, message: Any) -> Expr:
    return Comprehension(
        identity,
        message.iter_var,
        message.iter_var2,
        _node(message.iter_range),
        message.accu_var,
        _node(message.accu_init),
        _node(message.loop_condition),
        _node(message.loop_step),
        _node(message.result),
    )


_READERS = {
    "const_expr": _literal,
    "ident_expr": lambda identity, message: Ident(identity, message.name),
    "select_expr": _select,
    "call_expr": _call,
    "list_expr": _list,
    "struct_expr": _struct,
    "comprehension_expr": _comprehension,
}
