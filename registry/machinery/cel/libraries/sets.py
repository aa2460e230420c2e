"""Sets: lists as sets."""

from collections.abc import Sequence
from typing import Any

from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.values import equal


def _has(elements: Sequence[Any], wanted: Any) -> bool:
    return any(equal(one, wanted) for one in elements)


def _contains(elements: Sequence[Any], others: Sequence[Any]) -> bool:
    return all(_has(elements, other) for other in others)


def _equivalent(elements: Sequence[Any], others: Sequence[Any]) -> bool:
    return _contains(elements, others) and _contains(others, elements)


def _intersects(elements: Sequence[Any], others: Sequence[Any]) -> bool:
    return any(_has(elements, other) for other in others)


LIBRARY = Library(
    functions(
        {
            "sets.contains": [("list_sets_contains_list", "(list(A), list(A)) -> bool")],
            "sets.equivalent": [("list_sets_equivalent_list", "(list(A), list(A)) -> bool")],
            "sets.intersects": [("list_sets_intersects_list", "(list(A), list(A)) -> bool")],
        }
    ),
    {
        "list_sets_contains_list": _contains,
        "list_sets_equivalent_list": _equivalent,
        "list_sets_intersects_list": _intersects,
    },
)
