"""Sets: the CEL library `sets`, for lists as sets. Elements that are lists or maps pay for their comparison. Pure."""

from collections.abc import Sequence
from typing import Any

from aio_apiserver.base.budget import Budget
from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.values import Budgeted, equal


def _has(budget: Budget, elements: Sequence[Any], sought: Any) -> bool:
    return any(equal(element, sought, budget) for element in elements)


def _contains(budget: Budget, elements: Sequence[Any], others: Sequence[Any]) -> bool:
    return all(_has(budget, elements, other) for other in others)


def _equivalent(budget: Budget, elements: Sequence[Any], others: Sequence[Any]) -> bool:
    return _contains(budget, elements, others) and _contains(budget, others, elements)


def _intersects(budget: Budget, elements: Sequence[Any], others: Sequence[Any]) -> bool:
    return any(_has(budget, elements, other) for other in others)


LIBRARY = Library(
    functions(
        {
            "sets.contains": [("list_sets_contains_list", "(list(A), list(A)) -> bool")],
            "sets.equivalent": [("list_sets_equivalent_list", "(list(A), list(A)) -> bool")],
            "sets.intersects": [("list_sets_intersects_list", "(list(A), list(A)) -> bool")],
        }
    ),
    {
        "list_sets_contains_list": Budgeted(_contains),
        "list_sets_equivalent_list": Budgeted(_equivalent),
        "list_sets_intersects_list": Budgeted(_intersects),
    },
)
