"""Regex: the CEL functions `find` and `findAll`."""

from itertools import islice
from typing import Any

from aio_apiserver.base.budget import Budget
from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.standard import pattern
from aio_apiserver.registry.machinery.cel.values import BYTES_OF_A_TEXT, Budgeted, EvaluationError

_STEPS_OF_A_MATCH = 8


def _paid(budget: Budget, text: str, regex: str) -> Any:
    """The compiled pattern, for a search in a text that is paid for. Raises EvaluationError, BudgetExceeded."""
    try:
        compiled = pattern(regex, budget)
    except EvaluationError as exc:
        raise EvaluationError(f"Illegal regex: {exc}") from exc
    compiled.pay(len(text), budget)
    return compiled.regex


def _find(budget: Budget, text: str, regex: str) -> str:
    match = _paid(budget, text, regex).search(text)
    return match.group() if match is not None else ""


def _find_all(budget: Budget, text: str, regex: str, limit: int = -1) -> list[str]:
    matches = []
    for match in islice(_paid(budget, text, regex).finditer(text), None if limit < 0 else limit):
        budget.spend(_STEPS_OF_A_MATCH)
        budget.make(BYTES_OF_A_TEXT + match.end() - match.start())
        matches.append(match.group())
    return matches


LIBRARY = Library(
    functions(
        {
            "find": [("string_find_string", "string.(string) -> string")],
            "findAll": [
                ("string_find_all_string", "string.(string) -> list(string)"),
                ("string_find_all_string_int", "string.(string, int) -> list(string)"),
            ],
        }
    ),
    {
        "string_find_string": Budgeted(_find),
        "string_find_all_string": Budgeted(_find_all),
        "string_find_all_string_int": Budgeted(_find_all),
    },
)
