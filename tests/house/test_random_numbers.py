"""Random numbers: the server leaves Python's own source of them to the program that it runs in."""

import ast

from tests.house.sources import product

_OWN_SOURCE = {"base.jitter", "testing.bench.faults"}
"""Modules that make a source of their own."""


def test_no_module_uses_the_source_that_a_test_may_seed() -> None:
    using = {source.name for source in product() if any(map(_imports_random, ast.walk(source.tree)))}

    assert using == _OWN_SOURCE


def _imports_random(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(name.name == "random" for name in node.names)
    return isinstance(node, ast.ImportFrom) and node.module == "random"
