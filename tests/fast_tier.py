"""fast_tier: the tests that `scripts/test --fast` runs: those that start no process.

A test module starts processes when it, or a helper of tests/ that it imports, imports a module for that. A test that
has a parameter or a fixture for etcd starts one, too.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.paths import ROOT

_STARTERS = frozenset({"subprocess", "multiprocessing", "pty", "playwright"})


@cache
def starts_processes(path: Path) -> bool:
    """Whether a test module or a helper starts processes, or imports a helper that does."""
    return _reaches(path, frozenset())


def _reaches(path: Path, visited: frozenset[Path]) -> bool:
    if path in visited or not path.exists():
        return False
    text = path.read_text()
    if "create_subprocess" in text:
        return True
    names = list(_imported(ast.parse(text)))
    if any(name.partition(".")[0] in _STARTERS for name in names):
        return True
    helpers = (ROOT / f"{name.replace('.', '/')}.py" for name in names if name.startswith("tests."))
    return any(_reaches(helper, visited | {path}) for helper in helpers)


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_fast(item: pytest.Item) -> bool:
    """Whether a test belongs to the fast tier."""
    fixtures = getattr(item, "fixturenames", ())
    asks_for_etcd = any("etcd" in name for name in fixtures) or "etcd" in item.name.partition("[")[2]
    return not asks_for_etcd and not starts_processes(item.path)
