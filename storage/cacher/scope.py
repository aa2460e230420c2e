"""Scope: the keys that a list or watch is about, as narrow as its key and selectors allow.

A scope is "" (all), "default/" (a namespace) or a whole key (one object). Pure.
"""

from aio_apiserver.storage.selection import SelectionPredicate

EVERYTHING = ""


def narrowed(key: str, predicate: SelectionPredicate, *, recursive: bool, namespaced: bool) -> str:
    """The scope of a request. The predicate still has to be matched: a scope only leaves out keys that cannot match.

    >>> from aio_apiserver.storage.selection import Operator, Requirement
    >>> one = SelectionPredicate(fields=(Requirement("metadata.name", Operator.IN, frozenset({"db"})),))
    >>> narrowed("default/", one, recursive=True, namespaced=True)
    'default/db'
    """
    if not recursive:
        return key
    namespace = predicate.field_value("metadata.namespace")
    if namespaced and not key and namespace:
        key = f"{namespace}/"
    name = predicate.field_value("metadata.name")
    if name and (key or not namespaced):
        return f"{key}{name}"
    return key


def is_single(scope: str) -> bool:
    """Whether the scope is the key of one object."""
    return bool(scope) and not scope.endswith("/")


def holds(scope: str, key: str) -> bool:
    """Whether the key belongs to the scope."""
    return key == scope or ((not scope or scope.endswith("/")) and key.startswith(scope))


def holding(key: str) -> tuple[str, ...]:
    """All scopes that the key belongs to.

    >>> holding("default/db"), holding("node-1")
    (('', 'default/', 'default/db'), ('', 'node-1'))
    """
    slash = key.find("/")
    return (EVERYTHING, key) if slash < 0 else (EVERYTHING, key[: slash + 1], key)
