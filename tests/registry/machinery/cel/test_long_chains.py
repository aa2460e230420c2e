"""Sums of many parts."""

import pytest

from aio_apiserver.registry.machinery.cel import long_chains, syntax
from aio_apiserver.registry.machinery.cel.syntax import Call, Ident, Issue, Node

NAMES = [f"variables.x{number}" for number in range(60)]


def shape(node: Node) -> object:
    """What a node is made of, whatever the ids."""
    own = {name: getattr(node, name) for name in ("function", "name", "value", "field") if hasattr(node, name)}
    return type(node).__name__, own, [shape(part) for part in syntax.parts(node)]


def test_a_long_sum_is_read_from_left_to_right_with_all_places() -> None:
    text = "'a' + " + " + ".join(NAMES) + " - -1\n + size(\"+-(\" + 'b') // + c"

    tree = syntax.parse(text)

    nodes = list(syntax.walk(tree.root))
    assert isinstance(tree.root, Call)
    assert text[tree.places[tree.root.id] :].startswith("+ size")
    assert [text[tree.places[one.id] :][:9] for one in nodes if isinstance(one, Ident)] == ["variables"] * len(NAMES)
    assert len({one.id for one in nodes}) == len(nodes)


@pytest.mark.parametrize("text", ["a + b.c - d + size('x' + 'y')", "(a + b) - [1 + 2][0]", "-a - -b", "'+' + r\"\\+\""])
def test_part_by_part_gives_what_reading_at_once_gives(text: str) -> None:
    whole = syntax.parse(text)

    by_parts = syntax._sum(text, long_chains.parts(text), has_bindings=False)

    assert shape(by_parts.root) == shape(whole.root)
    assert sorted(by_parts.places.values()) == sorted(whole.places.values())


@pytest.mark.parametrize("text", ["a", "a + b == c", "a ? b + c : d", "a * b", "[a + b]", "+".join("a" * 300)])
def test_what_is_no_sum_or_too_long_has_no_parts(text: str) -> None:
    assert long_chains.parts(text) == []


def test_what_is_wrong_with_a_part_is_told_at_its_place() -> None:
    with pytest.raises(Issue, match=r"<input>:1:\d+: Syntax error"):
        syntax.parse(" + ".join([*NAMES, "b c"]))


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(Issue, match="recursion"):
        syntax.parse("[" * 300 + "]" * 300)
