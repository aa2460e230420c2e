"""Combinations: anyOf, oneOf, allOf and not.

Must hold: alternatives are tried in order. When none matches, the errors of the best match are reported.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from aio_apiserver.registry.base.golang.quoting import quote
from aio_apiserver.registry.machinery.schema.model import Schema
from aio_apiserver.registry.machinery.schema.validation.correlation import Correlated
from aio_apiserver.registry.machinery.schema.validation.result import Result

if TYPE_CHECKING:
    from aio_apiserver.registry.machinery.schema.validation.values import ValueValidation


def check(
    validation: "ValueValidation", result: Result, value: Any, schema: Schema, name: str, old: Correlated | None
) -> None:
    """Add the errors of a schema's combinations."""

    def tried(alternatives: Sequence[Schema]) -> Iterator[Result]:
        return (validation.checked(value, one, name, old) for one in alternatives)

    if schema.get("anyOf"):
        _any_of(validation, result, tried(schema["anyOf"]), name)
    if schema.get("oneOf"):
        _one_of(validation, result, list(tried(schema["oneOf"])), name)
    if schema.get("allOf"):
        _all_of(validation, result, list(tried(schema["allOf"])), name)
    excluded = schema.get("not")
    if excluded is not None and validation.checked(value, excluded, name, old).is_valid:
        validation.general(result, f"{quote(name)} must not validate the schema (not)")


def _any_of(validation: "ValueValidation", result: Result, tried: Iterator[Result], name: str) -> None:
    wrong = []
    for one in tried:
        if one.is_valid:
            result.merge([one])
            return
        wrong.append(one)
    validation.general(result, f"{quote(name)} must validate at least one schema (anyOf)")
    result.merge([_best(wrong)])


def _one_of(validation: "ValueValidation", result: Result, tried: list[Result], name: str) -> None:
    right = [one for one in tried if one.is_valid]
    if len(right) == 1:
        result.merge(right)
        return
    found = f"Found {len(right)} valid alternatives" if right else "Found none valid"
    validation.general(result, f"{quote(name)} must validate one and only one schema (oneOf). {found}")
    if not right:
        result.merge([_best(tried)])


def _all_of(validation: "ValueValidation", result: Result, tried: list[Result], name: str) -> None:
    result.merge(tried)
    right = sum(one.is_valid for one in tried)
    if right < len(tried):
        suffix = "" if right else ". None validated"
        validation.general(result, f"{quote(name)} must validate all the schemas (allOf){suffix}")


def _best(tried: list[Result]) -> Result:
    """The first of the best matches."""
    return max(tried, key=lambda one: one.matches)
