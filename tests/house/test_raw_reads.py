"""Raw reads: which modules read storage past the generic Store and Lookup.

A Lookup translates storage's errors, and parses an object once a revision. Modules that write past the Store
(test_raw_writes.py) may read the state that they replace.
"""

import ast
from collections.abc import Iterator

from tests.house.sources import Source, product
from tests.house.test_raw_writes import WRITERS

_READS = frozenset({"get", "get_list"})
_TRANSLATES = frozenset({"interpreted", "StorageCall"})
_READERS = frozenset({"Reader", "Storage"})
_OPENS = frozenset({"storage_for", "writable_storage_for", "custom_storage", "storage"})

READERS = {
    "registry.generic.lookups": "is the Lookup",
    "registry.groups.core.componentstatuses": "a read of one object is the health check of storage",
    "registry.plugins.authorization.rbac_feed": "compares the stored keys with those that its watch has seen",
    "registry.plugins.admission.namespaces.namespace_auto_provision": "creates it; listed in test_raw_writes.py",
}
"""Modules that read storage themselves, or translate its errors."""


def _is_reader(node: ast.expr | None) -> bool:
    return node is not None and any(isinstance(one, ast.Name) and one.id in _READERS for one in ast.walk(node))


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _readers(tree: ast.Module) -> frozenset[str]:
    """The names that a module gives to storage: parameters of its type, results of `storage_for`, and their copies."""
    known = {one.arg for one in ast.walk(tree) if isinstance(one, ast.arg) and _is_reader(one.annotation)}
    known |= {
        _last_name(one.target)
        for one in ast.walk(tree)
        if isinstance(one, ast.AnnAssign) and _is_reader(one.annotation)
    }
    for one in ast.walk(tree):
        if isinstance(one, ast.Assign) and (_opens(one.value) or _last_name(one.value) in known):
            known |= {_last_name(target) for target in one.targets}
    return frozenset(known)


def _opens(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and _last_name(node.func) in _OPENS


def _raw_reads(source: Source) -> Iterator[int]:
    """The lines that read storage or translate its errors."""
    readers = _readers(source.tree)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ImportFrom) and _TRANSLATES & {one.name for one in node.names}:
            yield node.lineno
        if isinstance(node, ast.Attribute) and node.attr in _TRANSLATES and _last_name(node.value) == "interpret":
            yield node.lineno
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _READS:
            of = node.func.value
            if node.func.attr == "get_list" or _opens(of) or _last_name(of) in readers | {"storage"}:
                yield node.lineno


def test_only_listed_modules_read_past_the_generic_store_and_lookup() -> None:
    found = {
        source.name
        for source in product()
        if source.name.startswith(("registry.", "controllers."))
        and not source.name.startswith("registry.generic.store")
        and any(_raw_reads(source))
    }

    assert found - set(WRITERS) == set(READERS)
