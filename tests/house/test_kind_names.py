"""Kinds' names: a kind's name or plural stands as text in its group, in plugins and in controllers.

kind_names.txt lists the other places, each with its reason.
"""

import ast
from collections.abc import Iterator

from aio_apiserver.registry.controlplane.providers import PROVIDERS
from aio_apiserver.registry.generic.store.provider import KindsProvider
from tests.house import words
from tests.house.sources import Source, product

_FREE = ("controllers", "simulation", "registry.plugins", "testing")
_GROUPS = "registry.groups."
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _homes() -> dict[str, set[str]]:
    """The folders of the groups in which a name or plural is at home."""
    found: dict[str, set[str]] = {}
    for provider in PROVIDERS:
        for kind in provider.kinds if isinstance(provider, KindsProvider) else ():
            stored = kind.stored_as or kind
            for one in (kind, stored):
                folder = one.group.partition(".")[0] or "core"
                for name in (one.kind, one.plural):
                    found.setdefault(name, set()).add(_GROUPS + folder)
    return found


HOMES = _homes()


def _texts(source: Source) -> Iterator[str]:
    """The texts of a module that are no docstring."""
    documents = {
        id(node.body[0].value)
        for node in ast.walk(source.tree)
        if isinstance(node, _DOCUMENTED) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documents:
            yield node.value


def _strays() -> Iterator[str]:
    for source in product():
        if source.name.startswith(_FREE):
            continue
        names = sorted(
            {text for text in _texts(source) if text in HOMES and not source.name.startswith(tuple(HOMES[text]))}
        )
        if names:
            yield f"{source.path} | {', '.join(names)}"


def test_a_kind_is_named_at_home_or_with_a_reason() -> None:
    rows = [row.rsplit(" | ", 1) for row in words.rows("kind_names.txt")]

    assert [place for place, _ in rows] == sorted(_strays())
    assert all(reason.strip() for _, reason in rows)
