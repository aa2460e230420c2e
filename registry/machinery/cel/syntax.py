"""Syntax: from the text of an expression to its tree, macros expanded, by Google's parser.

Must hold: an expression that cannot be read ends in SyntaxErrors with kube-apiserver's texts, never in anything else; a
tree knows for each node where in the text it stands.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct

from aio_apiserver.registry.machinery.cel import long_chains
from aio_apiserver.registry.machinery.cel.long_chains import Part
from aio_apiserver.registry.machinery.cel.wire import Envelope

_MACROS = ("optional", "two-var-comprehensions", "lists")
_BINDING_MACROS = (*_MACROS, "bindings")


class Node(Struct, frozen=True):
    """A part of an expression."""

    id: int


class Literal(Node, frozen=True):
    """A constant: None, bool, int, float, str, bytes, or a number without a sign (see `is_unsigned`)."""

    value: Any
    is_unsigned: bool = False


class Ident(Node, frozen=True):
    """A name."""

    name: str


class Select(Node, frozen=True):
    """A field of something, or (`is_test`) whether there is one."""

    operand: Node
    field: str
    is_test: bool = False


class Call(Node, frozen=True):
    """A function, an operator or a member of something."""

    function: str
    arguments: tuple[Node, ...]
    target: Node | None = None


class ListLiteral(Node, frozen=True):
    """A list; elements at `optional` places may be left out."""

    elements: tuple[Node, ...]
    optional: frozenset[int] = frozenset()


class Entry(Node, frozen=True):
    """A member of a map or of an object; of an object, the key is the name of a field."""

    key: Node | str
    value: Node
    is_optional: bool = False


class MapLiteral(Node, frozen=True):
    """A map."""

    entries: tuple[Entry, ...]


class ObjectLiteral(Node, frozen=True):
    """An object of a named type."""

    name: str
    fields: tuple[Entry, ...]


class Comprehension(Node, frozen=True):
    """What `all`, `exists`, `map` and their like turn into."""

    variable: str
    second: str
    over: Node
    accumulator: str
    start: Node
    condition: Node
    step: Node
    result: Node


class Tree(Struct, frozen=True):
    """A whole expression. `places` are offsets into the text, by node."""

    text: str
    root: Node
    places: dict[int, int]


def walk(node: Node) -> Iterator[Node]:
    """A node and all that it is made of."""
    yield node
    for part in parts(node):
        yield from walk(part)


def parts(node: Node) -> Iterator[Node]:
    """What a node is made of."""
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


class Issue(Exception):
    """What is wrong with an expression, with a line for each mistake and the place of it."""


def complain(text: str, mistakes: list[tuple[int, str]]) -> Issue:
    """An Issue of mistakes by their offsets into the text."""
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


def parse(text: str, *, has_bindings: bool = False) -> Tree:
    """Read an expression; `has_bindings` knows cel.bind. Raises Issue."""
    try:
        encoded = _parser(_BINDING_MACROS if has_bindings else _MACROS).compile(text, disable_check=True).serialize()
    except Exception as exc:
        if _TOO_DEEP in str(exc) and (parts_of_sum := long_chains.parts(text)):
            return _sum(text, parts_of_sum, has_bindings=has_bindings)
        complaint = _as_known(str(exc))
        # An empty text has no first column.
        raise Issue(complaint if text else complaint.replace("<input>:1:1:", "<input>:1:0:")) from exc
    message = Envelope.FromString(encoded).value
    root = _node(message.expr)
    return Tree(text, root, _places(text, root, message.source_info.positions))


def _sum(text: str, parts_of_sum: Sequence[Part], *, has_bindings: bool) -> Tree:
    """A chain of `+` and `-`, put together from its parts. Raises Issue."""
    whole: Node | None = None
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
        whole = Call(number, part.function, (whole, root))
    assert whole is not None
    return Tree(text, whole, places)


def _renumbered(value: Any, by: int) -> Any:
    """A node whose ids, and those of all that it is made of, are higher."""
    if isinstance(value, tuple):
        return tuple(_renumbered(one, by) for one in value)
    if not isinstance(value, Node):
        return value
    changed = {name: _renumbered(getattr(value, name), by) for name in value.__struct_fields__ if name != "id"}
    return type(value)(id=value.id + by, **changed)


def _places(text: str, root: Node, positions: Mapping[int, int]) -> dict[int, int]:
    """The offsets of nodes: of an object, that of its brace."""
    places = dict(positions)
    for node in walk(root):
        if isinstance(node, ObjectLiteral):
            places[node.id] = max(text.find("{", places.get(node.id, 0)), 0)
    return places


def _as_known(complaint: str) -> str:
    match = _STATUS.match(complaint)
    text = match["text"] if match else complaint
    for theirs, ours in _SAME.items():
        text = text.replace(theirs, ours)
    return text


@lru_cache(maxsize=2)
def _parser(macros: Sequence[str]) -> Any:
    from cel_expr_python import cel  # nobody waits for it who uses no expression

    names = "".join(f'  - name: "{name}"\n' for name in macros)
    return cel.NewEnv(config=cel.NewEnvConfigFromYaml(f"extensions:\n{names}"))


def _node(message: Any) -> Node:
    kind = message.WhichOneof("expr_kind")
    return _READERS[kind](message.id, getattr(message, kind))


def _literal(identity: int, message: Any) -> Node:
    kind = message.WhichOneof("constant_kind")
    value = None if kind in (None, "null_value") else getattr(message, kind)
    return Literal(identity, value, kind == "uint64_value")


def _select(identity: int, message: Any) -> Node:
    return Select(identity, _node(message.operand), message.field, message.test_only)


def _call(identity: int, message: Any) -> Node:
    target = _node(message.target) if message.HasField("target") else None
    return Call(identity, message.function, tuple(map(_node, message.args)), target)


def _list(identity: int, message: Any) -> Node:
    return ListLiteral(identity, tuple(map(_node, message.elements)), frozenset(message.optional_indices))


def _struct(identity: int, message: Any) -> Node:
    entries = tuple(map(_entry, message.entries))
    if message.message_name:
        return ObjectLiteral(identity, message.message_name, entries)
    return MapLiteral(identity, entries)


def _entry(message: Any) -> Entry:
    key = message.field_key if message.WhichOneof("key_kind") == "field_key" else _node(message.map_key)
    return Entry(message.id, key, _node(message.value), message.optional_entry)


def _comprehension(identity: int, message: Any) -> Node:
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
