"""Regular expressions: what they find."""

from typing import Any

from aio_apiserver.registry.machinery.cel.declarations import functions
from aio_apiserver.registry.machinery.cel.environment import Library
from aio_apiserver.registry.machinery.cel.standard import pattern
from aio_apiserver.registry.machinery.cel.values import EvaluationError


def _compiled(regex: str) -> Any:
    try:
        return pattern(regex)
    except EvaluationError as exc:
        raise EvaluationError(f"Illegal regex: {exc}") from exc


def _find(text: str, regex: str) -> str:
    found = _compiled(regex).search(text)
    return found.group() if found is not None else ""


def _find_all(text: str, regex: str, limit: int = -1) -> list[str]:
    found = [match.group() for match in _compiled(regex).finditer(text)]
    return found if limit < 0 else found[:limit]


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
        "string_find_string": _find,
        "string_find_all_string": _find_all,
        "string_find_all_string_int": _find_all,
    },
)
