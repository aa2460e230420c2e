"""Scopes: as narrow as key and selectors allow, never narrower."""

import pytest

from aio_apiserver.storage.cacher import scope as scopes
from aio_apiserver.storage.selection import EVERYTHING, Operator, Requirement, SelectionPredicate


def fields(**values: str) -> SelectionPredicate:
    return SelectionPredicate(
        fields=tuple(Requirement(f"metadata.{name}", Operator.IN, frozenset([value])) for name, value in values.items())
    )


@pytest.mark.parametrize(
    ("key", "predicate", "expected"),
    [
        ("", EVERYTHING, ""),
        ("default/", EVERYTHING, "default/"),
        ("default/", fields(name="a"), "default/a"),
        ("", fields(name="a"), ""),
        ("", fields(namespace="default"), "default/"),
        ("", fields(namespace="default", name="a"), "default/a"),
        ("default/", fields(namespace="other"), "default/"),
        ("default/", fields(name=""), "default/"),
        ("", fields(namespace=""), ""),
    ],
)
def test_namespaced_scopes(key: str, predicate: SelectionPredicate, expected: str) -> None:
    assert scopes.narrowed(key, predicate, recursive=True, namespaced=True) == expected


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [(EVERYTHING, ""), (fields(name="node-1"), "node-1"), (fields(namespace="default"), "")],
)
def test_cluster_wide_scopes(predicate: SelectionPredicate, expected: str) -> None:
    assert scopes.narrowed("", predicate, recursive=True, namespaced=False) == expected


def test_the_watch_of_one_key_has_that_scope() -> None:
    assert scopes.narrowed("default/a", EVERYTHING, recursive=False, namespaced=True) == "default/a"


def test_a_name_that_must_not_be_narrows_nothing() -> None:
    predicate = SelectionPredicate(fields=(Requirement("metadata.name", Operator.NOT_IN, frozenset(["a"])),))

    assert scopes.narrowed("default/", predicate, recursive=True, namespaced=True) == "default/"


@pytest.mark.parametrize(
    ("scope", "key", "expected"),
    [
        ("", "default/a", True),
        ("default/", "default/a", True),
        ("default/", "default-2/a", False),
        ("default/a", "default/a", True),
        ("default/a", "default/ab", False),
        ("node-1", "node-1", True),
        ("node-1", "node-10", False),
    ],
)
def test_a_scope_holds_its_keys(scope: str, key: str, expected: bool) -> None:
    assert scopes.holds(scope, key) is expected
    assert (scope in scopes.holding(key)) is expected
