"""circles: No two packages of the product import each other, not even through others."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from tests.house.sources import Source, product

_PRODUCT = "aio_apiserver."


def _imported(source: Source) -> Iterator[str]:
    """The modules that a module may import, wherever the import stands: a name may be a module of its package."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_PRODUCT):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_packages_import_each_other_in_no_circle() -> None:
    folder_of = {f"{_PRODUCT}{source.name}": source.folder for source in product()}
    graph: dict[str, set[str]] = {}
    for source in product():
        others = {folder_of[name] for name in _imported(source) if name in folder_of}
        graph.setdefault(source.folder, set()).update(others - {source.folder})

    try:
        TopologicalSorter(graph).prepare()
        circle: list[str] = []
    except CycleError as exc:
        circle = exc.args[1]

    assert circle == [], f"these packages import each other in a circle: {' <- '.join(circle)}"
